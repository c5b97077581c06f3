// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Interrupts and mounting: while a goroutine runs, its carrier is marked as interrupted if and only if the goroutine is.
 * The mark is what ends a wait of a goroutine that is pinned to its carrier.
 */
class MountTest {
    private static final int SWITCHES = 50_000;

    /** The carrier of the goroutine that calls. */
    private static Thread carrier() {
        return Stack.current().host.thread;
    }

    @Test
    void theMarkFollowsTheGoroutine() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                AtomicInteger wrong = new AtomicInteger();
                for (int g = 0; g < 4; g++) {
                    boolean interrupted = g % 2 == 0;
                    wg.go(() -> {
                        if (interrupted) {
                            Thread.currentThread().interrupt();
                        }
                        for (int i = 0; i < 1_000; i++) {
                            Go.gosched();
                            if (carrier().isInterrupted() != interrupted) {
                                wrong.incrementAndGet();
                            }
                        }
                        assertEquals(interrupted, Thread.interrupted());
                    });
                }
                wg.await();
                assertEquals(0, wrong.get());
            });
            gmp.check();
        }
    }

    /** A goroutine that runs a continuation of its own: a switch in there must not end in that continuation's caller. */
    @Test
    void aContinuationInAGoroutine() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                ContinuationScope scope = new ContinuationScope("generator");
                AtomicInteger steps = new AtomicInteger();
                Continuation generator = new Continuation(scope, () -> {
                    for (int i = 0; i < 100; i++) {
                        Go.gosched();
                        Go.sleep(Duration.ofNanos(1));
                        steps.incrementAndGet();
                        boolean _ = Continuation.yield(scope);
                    }
                });
                for (int i = 1; i <= 100; i++) {
                    generator.run();
                    assertEquals(i, steps.get());
                    Go.gosched();
                }
                generator.run();
                assertTrue(generator.isDone());
            });
            gmp.check();
        }
    }

    /** A sleeping M keeps nothing of the last thread that ran on it: on the idle list, or as the one that watches a timer. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anIdleHostForgetsTheLastThread(boolean timer) throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Chan<Timer> timers = Chan.make(1);
            WeakReference<Thread> last = endedThread(gmp, () -> {
                if (timer) {
                    timers.send(Time.afterFunc(Duration.ofHours(1), () -> { }));
                }
                Thread.currentThread().interrupt();
            });
            long end = System.nanoTime() + 30_000_000_000L;
            while (!last.refersTo(null)) {
                assertTrue(System.nanoTime() < end, "the thread is still reachable");
                System.gc();
            }
            if (timer) {
                assertTrue(timers.recv().stop());
            }
        }
    }

    private static WeakReference<Thread> endedThread(TestGmp gmp, Runnable body) throws InterruptedException {
        Thread t = gmp.gmp.threadFactory().newThread(body);
        t.start();
        t.join();
        return new WeakReference<>(t);
    }

    /** An interrupt that meets a mount is seen by one side or the other: the goroutine cannot miss it. */
    @Stress
    void noInterruptIsLostInAMount() {
        storm((victim, stop) -> {
            while (!stop.get()) {
                victim.interrupt();
                while (victim.isInterrupted() && !stop.get()) {
                    Thread.onSpinWait();
                }
            }
        }, i -> {
            if (!Thread.currentThread().isInterrupted()) {
                return 0;
            }
            // The thread that interrupted is between two statements at most.
            long end = System.nanoTime() + 10_000_000_000L;
            while (!carrier().isInterrupted()) {
                if (System.nanoTime() > end) {
                    return 1;
                }
                Thread.onSpinWait();
            }
            assertTrue(Thread.interrupted());
            return 0;
        });
    }

    /** An interrupt that meets an unmount marks no other thread's carrier. */
    @Stress
    void noInterruptHitsTheNextGoroutine() {
        storm((victim, stop) -> {
            while (!stop.get()) {
                victim.interrupt();
            }
        }, i -> {
            boolean _ = Thread.interrupted();
            return 0;
        });
    }

    private interface Interrupter {
        void run(Thread victim, AtomicBoolean stop);
    }

    private interface Look {
        /** How many errors were seen. */
        int errors(int round);
    }

    /** A goroutine that is interrupted, and one that is not and whose carrier is never marked, take turns. */
    private static void storm(Interrupter interrupter, Look look) {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                AtomicInteger errors = new AtomicInteger();
                AtomicInteger hits = new AtomicInteger();
                AtomicBoolean stop = new AtomicBoolean();
                wg.go(() -> {
                    Thread me = Thread.currentThread();
                    Thread other = Thread.ofPlatform().start(() -> interrupter.run(me, stop));
                    for (int i = 0; i < SWITCHES; i++) {
                        Go.gosched();
                        errors.addAndGet(look.errors(i));
                    }
                    stop.set(true);
                    boolean _ = Thread.interrupted();
                    try {
                        other.join();
                    } catch (InterruptedException e) {
                        // One of the last of the storm.
                    }
                });
                wg.go(() -> {
                    while (!stop.get()) {
                        for (int i = 0; i < 20; i++) {
                            if (carrier().isInterrupted()) {
                                hits.incrementAndGet();
                            }
                        }
                        Go.gosched();
                    }
                });
                wg.await();
                assertEquals(0, errors.get(), "interrupts lost");
                assertEquals(0, hits.get(), "interrupts that hit another");
            });
            gmp.check();
        }
    }
}
