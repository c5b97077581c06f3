// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.sched.base.Scheduler;
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

    private static Thread start(TestGmp g, String name, Waiting w) {
        Thread t = g.gmp.threadFactory().newThread(() -> {
            try {
                w.now();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        t.setName(name);
        t.start();
        return t;
    }

    private static void awaitWaiting(Thread t) {
        while (t.getState() != Thread.State.WAITING) {
            Thread.yield();
        }
    }

    private static final class Order implements Runnable {
        private final CountDownLatch done;

        Order(CountDownLatch done) {
            this.done = done;
        }

        @Override
        public void run() {
            done.countDown();
        }
    }

    /** A thread that the JDK itself starts, with a task of the program's, has the class of that task as its place. */
    @Test
    void startedByTheJdk() throws Exception {
        Path file = dir.resolve("started");
        try (TestGmp g = TestGmp.procs(1)) {
            Trace t = Trace.start(g.gmp, file);
            CountDownLatch done = new CountDownLatch(1);
            try (ExecutorService executor = Executors.newThreadPerTaskExecutor(g.gmp.threadFactory())) {
                CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS, executor).execute(new Order(done));
                done.await();
            }
            t.stop();
            assertEquals(List.of(Order.class.getName()),
                    new Decoded(file).check().in("goroutines").stream().map(l -> l.name.replaceFirst("G[0-9]+ ", "")).toList());
        }
    }

    /** A wait that begins while the trace is on has its reason, and so has one that began before. */
    @Test
    void reasonsOfTheJdk() throws Exception {
        Path file = dir.resolve("waits");
        try (TestGmp g = TestGmp.procs(1); ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(1);
            Scheduler s = g.scheduler();
            AtomicBoolean polled = new AtomicBoolean();
            Semaphore older = new Semaphore(0);
            Semaphore newer = new Semaphore(0);
            Thread first = start(g, "first", older::acquire);
            awaitWaiting(first);
            Trace t = Trace.start(g.gmp, file);
            Thread second = start(g, "a \"second\" one", newer::acquire);
            Thread third = start(g, "", () -> Thread.sleep(1));
            Thread fourth = start(g, "fourth", () -> {
                while (!polled.get()) {
                    try {
                        server.accept().close();
                    } catch (SocketTimeoutException again) {
                        continue;
                    }
                }
            });
            awaitWaiting(second);
            while (!s.netpoll().anyWaiters(s)) { // The first waits are in the JDK's poller.
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
            List<String> lanes = d.in("goroutines").stream().map(l -> l.name.replaceFirst("G[0-9]+ ", "").replaceFirst(" \\(.*", ""))
                    .sorted().toList();
            String here = TraceThreadsTest.class.getName() + ".start";
            assertEquals(List.of("\"a 'second' one\" " + here, "\"first\"", "\"fourth\" " + here, here), lanes);
        }
    }
}
