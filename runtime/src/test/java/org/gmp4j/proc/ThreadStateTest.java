package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Mem;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link ThreadState}: what sysmon does not keep open. */
class ThreadStateTest {
    private static final int THREADS = 40;
    /** One just being read. */
    private static final int MOST_FILES = 1;

    private static long stats() throws IOException {
        long n = 0;
        try (var fds = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path fd : fds) {
                n += isStat(fd) ? 1 : 0;
            }
        }
        return n;
    }

    private static boolean isStat(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString().matches("/proc/.*/task/.*/stat");
        } catch (IOException e) {
            return false; // Closed meanwhile.
        }
    }

    /** Each sleeps in the kernel with the P until sysmon has found out. */
    @Test
    void noFilesForManyThreads() throws IOException {
        long word = Memory.map(Integer.BYTES);
        long before = stats();
        try (TestGmp gmp = TestGmp.procs(1)) {
            AtomicInteger asleep = new AtomicInteger();
            for (int i = 0; i < THREADS; i++) {
                gmp.go(() -> {
                    asleep.incrementAndGet();
                    while ((int) Mem.INT.getVolatile(word) == 0) {
                        int unused = Futex.await(word, 0);
                    }
                });
            }
            while (asleep.get() < THREADS) {
                Thread.onSpinWait();
            }
            long files = stats() - before;
            Mem.INT.setVolatile(word, 1);
            int unused = Futex.wake(word, THREADS);
            assertTrue(files <= MOST_FILES, files + " files");
        }
    }
}
