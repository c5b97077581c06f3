// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Go;
import org.gmp4j.queue.SemaRoot;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Sema}. Under the tag "ring" also with two roots, which all semaphores then crowd. */
@Tag("ring")
class SemaTest {
    private static final int MEET_SPINS = 1_000;

    private static void acquire(Sema s) {
        GStack st = GStack.enter();
        s.acquire(false, WaitReason.SEMACQUIRE);
        GStack.exit(st);
    }

    private static void release(Sema s, boolean handoff) {
        GStack st = GStack.enter();
        s.release(handoff);
        GStack.exit(st);
    }

    /** Of 50 minutes, which an int of microseconds holds only as one below 0. */
    @Test
    void longWaits() {
        int began = Integer.MAX_VALUE - 5;
        assertEquals(50 * 60_000_000_000L, Sema.waited(began, began + (int) (50 * 60_000_000L)));
    }

    /**
     * Go: {@code TestSemaHandoff1}, {@code TestSemaHandoff2}: one that hands a semaphore over lets the other run at once, before
     * its own next step. Others keep the Ps busy, so that none of the two moves to another.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void semaHandoff(int procs) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            int rounds = 200;
            AtomicInteger direct = new AtomicInteger();
            gmp.run(() -> {
                for (int i = 0; i < rounds; i++) {
                    if (handoff(procs)) {
                        direct.incrementAndGet();
                    }
                }
            });
            assertTrue(direct.get() * 3 > rounds * 2, () -> "direct: " + direct + " of " + rounds);
        }
    }

    private static boolean handoff(int procs) {
        Sema sema = new Sema();
        AtomicInteger first = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        WaitGroup wg = new WaitGroup();
        for (int i = 0; i < procs; i++) {
            wg.go(() -> {
                while (!done.get()) {
                    Go.gosched();
                }
            });
        }
        int before = sema.nwait();
        wg.go(() -> {
            acquire(sema);
            first.compareAndSet(0, 1);
            done.set(true);
        });
        while (sema.nwait() == before) {
            Go.gosched();
        }
        release(sema, true);
        first.compareAndSet(0, 2);
        wg.await();
        return first.get() == 1;
    }

    /**
     * Pairs of goroutines and threads give each other units of two semaphores, many pairs at a time: a wake-up that is lost,
     * or that reaches a stranger, stops a pair for ever.
     */
    @Stress
    void noWakeupIsLost() throws InterruptedException {
        int pairs = 24;
        int turns = 4_000;
        try (TestGmp gmp = TestGmp.procs(4)) {
            Threads threads = new Threads();
            AtomicInteger goroutineTurns = new AtomicInteger();
            Sema[] there = new Sema[pairs];
            Sema[] back = new Sema[pairs];
            for (int i = 0; i < pairs; i++) {
                Sema a = there[i] = new Sema();
                Sema b = back[i] = new Sema();
                if (i % 8 == 0) {
                    threads.add("pair" + i, () -> turns(a, b, turns));
                }
            }
            threads.start();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < pairs; i++) {
                    Sema a = there[i];
                    Sema b = back[i];
                    if (i % 8 != 0) {
                        wg.go(() -> turns(a, b, turns));
                    }
                    wg.go(() -> {
                        for (int k = 0; k < turns; k++) {
                            release(a, k % 3 == 0);
                            acquire(b);
                            goroutineTurns.incrementAndGet();
                        }
                    });
                }
                wg.await();
            });
            threads.join();
            assertEquals(pairs * turns, goroutineTurns.get());
            for (Sema s : there) {
                assertEquals(0, SemaRoot.of(s).nwait());
            }
        }
    }

    /** A release and an acquire at once, each sometimes a little before the other: the waiter gets the unit. */
    @Stress
    void aReleaseMeetsAWaiter() throws InterruptedException {
        int rounds = 20_000;
        Sema s = new Sema();
        AtomicInteger begun = new AtomicInteger();
        Threads.Body acquires = () -> {
            for (int i = 1; i <= rounds; i++) {
                meet(begun, i);
                pause(i % 64);
                acquire(s);
            }
        };
        Threads.Body releases = () -> {
            for (int i = 1; i <= rounds; i++) {
                meet(begun, i);
                pause(i / 64 % 64);
                release(s, false);
            }
        };
        new Threads().add("acquires", acquires).add("releases", releases).run();
    }

    /** Goes on when two are in this round. */
    private static void meet(AtomicInteger begun, int round) {
        begun.incrementAndGet();
        for (int i = 0; begun.get() < 2 * round; i++) {
            if (i < MEET_SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield(); // There may be one CPU.
            }
        }
    }

    private static void pause(int n) {
        for (int i = 0; i < n; i++) {
            Thread.onSpinWait();
        }
    }

    /** A hand-over yields, also when its thread cannot run the other: locked to it, or with a native frame below. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void handoffOfABoundThread(int procs) {
        int turns = 100;
        try (TestGmp gmp = TestGmp.procs(procs)) {
            Sema a = new Sema();
            Sema b = new Sema();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                wg.go(() -> {
                    Go.lockOSThread();
                    handOver(a, b, turns);
                    Go.unlockOSThread();
                });
                wg.go(() -> PinningCall.run(() -> handOver(b, a, turns)));
                release(a, true);
                wg.await();
            });
        }
    }

    private static void handOver(Sema from, Sema to, int turns) {
        for (int k = 0; k < turns; k++) {
            acquire(from);
            release(to, true);
        }
    }

    private static void turns(Sema a, Sema b, int turns) {
        for (int k = 0; k < turns; k++) {
            acquire(a);
            release(b, k % 5 == 0);
        }
    }

    /** Many take from one semaphore what many give: no unit is lost, none is doubled. */
    @Stress
    void unitsAreCounted() {
        int givers = 8;
        int units = 3_000;
        try (TestGmp gmp = TestGmp.procs(4)) {
            Sema s = new Sema();
            AtomicInteger given = new AtomicInteger();
            AtomicInteger taken = new AtomicInteger();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < givers; i++) {
                    wg.go(() -> {
                        for (int k = 0; k < units; k++) {
                            acquire(s);
                            int n = taken.incrementAndGet();
                            assertTrue(n <= given.get(), "more taken than given");
                        }
                    });
                    wg.go(() -> {
                        for (int k = 0; k < units; k++) {
                            given.incrementAndGet();
                            release(s, k % 2 == 0);
                        }
                    });
                }
                wg.await();
            });
            assertEquals(givers * units, taken.get());
            assertEquals(0, s.nwait());
        }
    }
}
