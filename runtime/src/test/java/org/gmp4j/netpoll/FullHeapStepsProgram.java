// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import org.gmp4j.Gmp;
import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.time.Time;

/**
 * A scheduler's poller is made, and it is closed, with ever more memory, so that it runs out between any two steps. What was
 * made and what is left is then gone on with, when there is memory.
 */
final class FullHeapStepsProgram {
    private static final int STEP = 128;
    private static final int MOST = 4 << 10;
    private static volatile Object left;
    private static volatile Object ballast;
    private static int refused;

    private FullHeapStepsProgram() {
    }

    public static void main(String[] args) throws Exception {
        Netpoller.rehearse();
        round(1 << 20);
        long pollers = pollers();
        refused = 0;
        for (int room = 0; room <= MOST; room += STEP) {
            round(room);
        }
        System.out.printf("pollers %d, live %s, refused %s%n", pollers() - pollers, threads(), refused > 0);
        System.exit(0);
    }

    /** Returns how many descriptors of epoll and eventfd are open. The JVM opens files for a moment at any time. */
    private static long pollers() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(FullHeapStepsProgram::isPollers).count();
        }
    }

    private static boolean isPollers(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString().startsWith("anon_inode:");
        } catch (IOException e) {
            return false; // It was closed meanwhile.
        }
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().matches("gmp\\d+-.*")).count();
    }

    private static void round(int room) throws Exception {
        Gmp gmp = Gmp.builder().procs(2).build();
        int fd = EventFd.create();
        CountDownLatch fired = new CountDownLatch(1);
        gmp.run(() -> {
            Object _ = Time.afterFunc(Duration.ofMillis(20), fired::countDown);
            with(room, () -> register(fd));
            register(fd);
        });
        Fd.close(fd);
        with(room, gmp::close);
        gmp.close();
        fired.await(); // It outlives its scheduler.
    }

    private static void register(int fd) {
        try {
            if (JdkWaits.INSTANCE.register(fd, false) && !JdkWaits.INSTANCE.deregister(fd, false)) {
                throw new AssertionError("not registered");
            }
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Does it with so many bytes of memory, about. */
    private static void with(int room, Runnable step) {
        left = new byte[room];
        Object[] head = null;
        for (int size = 1 << 16; size >= 16;) {
            try {
                head = new Object[] {head, new byte[size]};
                ballast = head;
            } catch (OutOfMemoryError e) {
                size /= 4;
            }
        }
        left = null;
        try {
            step.run();
        } catch (OutOfMemoryError e) {
            refused++;
        } finally {
            ballast = null;
        }
    }
}
