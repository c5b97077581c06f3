// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Memory;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Machines;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Struct;
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
                    while (Mem.INT.getVolatile(word) == 0) {
                        int _ = Futex.await(word, 0);
                    }
                });
            }
            while (asleep.get() < THREADS) {
                Thread.onSpinWait();
            }
            long files = stats() - before;
            Mem.INT.setVolatile(word, 1);
            int _ = Futex.wake(word, THREADS);
            assertTrue(files <= MOST_FILES, files + " files");
        }
    }

    /** As without a file to be had: no state, and here no CPU time either. */
    @Test
    void unreadItRunsForAWhile() {
        long mp = Mem.alloc(Struct.M, 1);
        long pp = Mem.alloc(Struct.P, 1);
        try (TestGmp gmp = TestGmp.procs(1)) {
            Machine unread = Machines.of(gmp.scheduler(), mp);
            M.PROCID.set(mp, 1 << 23); // No thread's.
            M.attachP(mp, pp);
            ThreadState threads = new ThreadState();
            assertFalse(threads.asleep(unread, 1_000_000));
            assertFalse(threads.asleep(unread, 2_000_000));
            assertFalse(threads.asleep(unread, 10_000_000));
            assertFalse(threads.asleep(unread, 11_000_000), "the first that says so");
            assertTrue(threads.asleep(unread, 12_000_000));
            P.SCHEDTICK.setOpaque(pp, 1);
            assertFalse(threads.asleep(unread, 13_000_000), "another time slice");
        } finally {
            Mem.recycle(Struct.M, mp);
            Mem.recycle(Struct.P, pp);
        }
    }
}
