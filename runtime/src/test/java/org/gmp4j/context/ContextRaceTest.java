// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;

/** Contexts that several threads cancel, watch and leave at once. */
class ContextRaceTest {
    private static final Duration LONG = Duration.ofSeconds(10_000);

    private static void cancelled(Context c, Exception err, Throwable cause) {
        assertFalse(c.done().recvOk().ok());
        assertSame(err, c.err());
        assertSame(cause, c.cause());
    }

    /** Go: {@code TestSimultaneousCancels}: a tree of contexts, all cancelled at once from many sides. */
    @Stress
    void simultaneousCancels() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(4)) {
            List<Context> all = new ArrayList<>();
            all.add(Context.background().withCancel());
            AtomicInteger ran = new AtomicInteger();
            for (int i = 1; i < 300; i++) {
                Context parent = all.get((i - 1) / 3);
                all.add(i % 5 == 0 ? parent.withTimeout(LONG) : parent.withCancel());
                BooleanSupplier _ = all.get(i).withValue(i, i).afterFunc(ran::incrementAndGet);
            }
            Threads threads = new Threads().add(2, "thread", () -> all.forEach(Context::cancel)).start();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (Context c : all) {
                    wg.go(c::cancel);
                    wg.go(() -> cancelled(c, Context.CANCELED, Context.CANCELED));
                }
                wg.await();
            });
            threads.join();
            for (Context c : all) {
                assertFalse(c.holdsAnything());
            }
            while (ran.get() < all.size() - 1) {
                Thread.yield();
            }
        }
    }

    /** Go: cancel holds the lock while it tells the children, so the caller finds them all cancelled when it returns. */
    @Stress
    void cancelledWhenCancelReturns() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (int round = 0; round < 300; round++) {
                Context root = Context.background().withCancel();
                List<Context> children = new ArrayList<>();
                List<Context> all = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    children.add(root.withCancel());
                    all.add(children.get(i).withCancel());
                    assertNotNull(children.get(i).done());
                }
                Threads threads = new Threads().add("thread", () -> {
                    for (int i = 60; i > 40; i--) {
                        children.get(i).cancel(); // They leave the list that is being told.
                    }
                    root.cancel();
                    all.forEach(c -> assertNotNull(c.err(), "cancel returned before all were cancelled"));
                }).start();
                gmp.run(() -> {
                    root.cancel();
                    all.forEach(c -> assertNotNull(c.err(), "cancel returned before all were cancelled"));
                });
                threads.join();
            }
        }
    }

    /** Go: {@code TestAfterFuncCalledAsynchronously}, and stops that meet the cancel half way: each function is run or stopped, once. */
    @Stress
    void afterFuncRunsOrIsStopped() {
        int rounds = 20;
        int n = 100;
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger stopped = new AtomicInteger();
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                for (int i = 0; i < rounds; i++) {
                    boolean firstFirst = i % 2 == 0;
                    Context c = Context.background().withCancel();
                    List<BooleanSupplier> stops = new ArrayList<>();
                    for (int k = 0; k < n; k++) {
                        stops.add(c.afterFunc(ran::incrementAndGet));
                    }
                    WaitGroup both = new WaitGroup();
                    AtomicInteger here = new AtomicInteger();
                    both.go(() -> {
                        meet(here);
                        c.cancel();
                    });
                    both.go(() -> {
                        meet(here);
                        for (BooleanSupplier stop : firstFirst ? stops : stops.reversed()) {
                            stopped.addAndGet(stop.getAsBoolean() ? 1 : 0);
                        }
                    });
                    both.await();
                }
            });
        } // When all that were started have ended.
        assertEquals(rounds * n, ran.get() + stopped.get(), () -> ran + " ran, stopped: " + stopped);
    }

    private static void meet(AtomicInteger here) {
        here.incrementAndGet();
        while (here.get() < 2) {
            Go.gosched();
        }
    }

    /** The parent is cancelled while a child with a deadline is made: the child is cancelled and keeps no timer. */
    @Stress
    void cancelledWhileTheDeadlineIsSet() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                for (int i = 0; i < 5_000; i++) {
                    Context parent = Context.background().withCancel();
                    WaitGroup wg = new WaitGroup();
                    wg.go(parent::cancel);
                    Context child = parent.withTimeout(LONG);
                    wg.await();
                    cancelled(child, Context.CANCELED, Context.CANCELED);
                    assertFalse(child.holdsAnything());
                }
            });
        }
    }

    /** A goroutine that sees err sees done closed, and the other way round. */
    @Stress
    void errComesWithDone() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                for (int i = 0; i < 20_000; i++) {
                    Context c = Context.background().withCancel();
                    Chan<Void> done = c.done();
                    WaitGroup wg = new WaitGroup();
                    wg.go(c::cancel);
                    wg.go(() -> {
                        while (c.err() == null) {
                            Go.gosched();
                        }
                        assertNotNull(done.tryRecvOk(), "err is set and done is open");
                    });
                    assertFalse(done.recvOk().ok());
                    assertNotNull(c.err());
                    wg.await();
                }
            });
        }
    }
}
