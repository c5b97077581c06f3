// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Virtual threads in a trace. */
class TraceThreadsTest {
    @TempDir
    private Path dir;

    private interface Waiting {
        void now() throws Exception;
    }

    private static Thread start(TestGmp g, Waiting w) {
        Thread t = g.gmp.threadFactory().newThread(() -> {
            try {
                w.now();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        t.start();
        return t;
    }

    private static void awaitWaiting(Thread t) {
        while (t.getState() != Thread.State.WAITING) {
            Thread.yield();
        }
    }

    /** A wait that begins while the trace is on has its reason, and so has one that began before. */
    @Test
    void reasonsOfTheJdk() throws Exception {
        Path file = dir.resolve("waits");
        try (TestGmp g = TestGmp.procs(1); ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(1);
            AtomicBoolean polled = new AtomicBoolean();
            Semaphore older = new Semaphore(0);
            Semaphore newer = new Semaphore(0);
            Thread first = start(g, older::acquire);
            awaitWaiting(first);
            Trace t = Trace.start(g.gmp, file);
            Thread second = start(g, newer::acquire);
            Thread third = start(g, () -> Thread.sleep(1));
            Thread fourth = start(g, () -> {
                while (!polled.get()) {
                    try {
                        server.accept().close();
                    } catch (SocketTimeoutException again) {
                        continue;
                    }
                }
            });
            awaitWaiting(second);
            while (!g.scheduler().netpoll().anyWaiters(g.scheduler())) { // The first waits are in the JDK's poller.
                Thread.yield();
            }
            polled.set(true);
            older.release();
            newer.release();
            for (Thread all : new Thread[] {first, second, third, fourth}) {
                all.join();
            }
            t.stop();
            Decoded d = new Decoded(file).check();
            assertEquals(2, d.named("goroutines", "waiting: park (Semaphore)").size());
            assertFalse(d.named("goroutines", "waiting: sleep").isEmpty());
            assertFalse(d.named("goroutines", "waiting: IO wait").isEmpty());
            assertEquals(0, d.named("goroutines", "waiting: java").size());
        }
    }
}
