// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ring")
class WaitGroupTest {
    /** Go: {@code TestWaitGroup}: two groups let each other through, again and again. */
    @Stress
    void waitGroup() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                for (int round = 0; round < 8; round++) {
                    WaitGroup wg1 = new WaitGroup();
                    WaitGroup wg2 = new WaitGroup();
                    int n = 16;
                    wg1.add(n);
                    wg2.add(n);
                    Chan<Boolean> exited = Chan.make(n);
                    for (int i = 0; i < n; i++) {
                        Go.go(() -> {
                            wg1.done();
                            wg2.await();
                            exited.send(true);
                        });
                    }
                    wg1.await();
                    for (int i = 0; i < n; i++) {
                        assertEquals(0, exited.len(), "let go too early");
                        wg2.done();
                    }
                    for (int i = 0; i < n; i++) {
                        assertTrue(exited.recv());
                    }
                }
            });
        }
    }

    /** Go: {@code TestWaitGroupMisuse}. What is refused changes nothing. */
    @Test
    void waitGroupMisuse() {
        WaitGroup wg = new WaitGroup();
        wg.add(1);
        wg.done();
        assertEquals("sync: negative WaitGroup counter",
                assertThrows(IllegalStateException.class, wg::done).getMessage());
        wg.await();
    }

    /** Go: {@code TestWaitGroupRace}: what is done before done is seen after await. */
    @Stress
    void waitGroupRace() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                for (int i = 0; i < 5_000; i++) {
                    WaitGroup wg = new WaitGroup();
                    int[] n = new int[2];
                    wg.go(() -> n[0]++);
                    wg.go(() -> n[1]++);
                    wg.await();
                    assertEquals(2, n[0] + n[1]);
                }
            });
        }
    }

    /** Many wait on one group, and each on the next as soon as it is let go: a woken waiter's place is used again at once. */
    @Stress
    void manyWaiters() {
        int groups = 300;
        int waiters = 20;
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                WaitGroup[] gates = new WaitGroup[groups];
                AtomicInteger[] passed = new AtomicInteger[groups];
                for (int i = 0; i < groups; i++) {
                    gates[i] = new WaitGroup();
                    gates[i].add(1);
                    passed[i] = new AtomicInteger();
                }
                WaitGroup all = new WaitGroup();
                for (int w = 0; w < waiters; w++) {
                    all.go(() -> {
                        for (int i = 0; i < groups; i++) {
                            gates[i].await();
                            passed[i].incrementAndGet();
                        }
                    });
                }
                for (int i = 0; i < groups; i++) {
                    gates[i].done();
                    while (passed[i].get() < waiters) {
                        Go.gosched();
                    }
                }
                all.await();
            });
        }
    }

    /** Threads and goroutines wait on one group. */
    @Stress
    void threadsToo() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (int round = 0; round < 200; round++) {
                WaitGroup wg = new WaitGroup();
                AtomicInteger done = new AtomicInteger();
                wg.add(4);
                Threads threads = new Threads().add(2, "waiter", () -> {
                    wg.await();
                    assertEquals(4, done.get());
                }).add(2, "worker", () -> {
                    done.incrementAndGet();
                    wg.done();
                }).start();
                gmp.run(() -> {
                    for (int i = 0; i < 2; i++) {
                        Go.go(() -> {
                            done.incrementAndGet();
                            wg.done();
                        });
                    }
                    wg.await();
                    assertEquals(4, done.get());
                });
                threads.join();
            }
        }
    }

    /** A goroutine that throws or calls goexit counts as done. */
    @Test
    void goCountsHoweverItEnds() {
        AtomicInteger thrown = new AtomicInteger();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).uncaught((id, t) -> thrown.incrementAndGet()))) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                wg.go(Go::goexit);
                wg.await();
            });
        }
        assertThrows(NullPointerException.class, () -> new WaitGroup().go(null));
    }

    private static VarHandle state() throws ReflectiveOperationException {
        return MethodHandles.privateLookupIn(WaitGroup.class, MethodHandles.lookup()).findVarHandle(WaitGroup.class, "state",
                long.class);
    }

    /** The moment between the last done and the release of the waiters, held open: no add from 0 now. */
    @Test
    void addWhileWaitersAreLetGo() throws ReflectiveOperationException {
        WaitGroup wg = new WaitGroup();
        VarHandle state = state();
        state.setVolatile(wg, 1L); // Counter 0, one waiter.
        assertEquals("sync: WaitGroup misuse: Add called concurrently with Wait",
                assertThrows(IllegalStateException.class, () -> wg.add(1)).getMessage());
        assertEquals(1L, (long) state.getVolatile(wg));
        wg.await();
    }

    /** A new round before the waiter of the last has returned: it says so, and the new round counts. */
    @Test
    void reuseBeforeTheWaiterHasReturned() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                Chan<String> said = Chan.make(1);
                wg.add(1);
                Go.go(() -> said
                        .send(assertThrows(IllegalStateException.class, wg::await).getMessage()));
                TestGmp.awaitOthers();
                GStack st = GStack.enter(); // No other goroutine gets the P.
                wg.done(); // It is runnable, but there is one P.
                wg.add(1);
                GStack.exit(st);
                assertEquals("sync: WaitGroup is reused before previous Wait has returned", said.recv());
                wg.done();
                wg.await();
            });
        }
    }

    /** A group may be used again and again, with many waiters each time. */
    @Stress
    void reuse() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                WaitGroup returned = new WaitGroup();
                for (int i = 0; i < 1_000; i++) {
                    wg.add(2);
                    for (int k = 0; k < 3; k++) {
                        returned.go(wg::await);
                    }
                    Go.go(wg::done);
                    Go.go(wg::done);
                    wg.await();
                    returned.await();
                }
            });
        }
    }

    /** Outside a goroutine nothing can be started, and nothing is counted. */
    @Test
    void goOutsideAGoroutine() {
        WaitGroup wg = new WaitGroup();
        assertThrows(IllegalStateException.class, () -> wg.go(() -> { }));
        wg.await();
    }
}
