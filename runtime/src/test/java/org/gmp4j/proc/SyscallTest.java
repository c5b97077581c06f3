// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Go;
import org.gmp4j.struct.M;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link Syscall} and {@link Retake}: where the P of a goroutine is that blocks its thread. */
class SyscallTest {
    private static final long HELD_NANOS = 50_000_000;
    private static final int CALLS = 2_000;

    private static TestGmp onePNoPreemption() {
        return TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)));
    }

    private static <T> T blocking(java.util.concurrent.Callable<T> c) {
        try {
            return Go.blocking(c);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** One P: while a goroutine is in a call another gets the P, and keeps it when the first comes back. */
    @Test
    void aPThatWasTakenStaysTaken() {
        try (TestGmp gmp = onePNoPreemption()) {
            gmp.run(() -> {
                AtomicBoolean started = new AtomicBoolean();
                AtomicBoolean returned = new AtomicBoolean();
                WaitGroup other = new WaitGroup();
                other.go(() -> {
                    started.set(true);
                    long end = System.nanoTime() + HELD_NANOS;
                    while (!returned.get() && System.nanoTime() < end) {
                        Thread.onSpinWait();
                    }
                    assertFalse(returned.get(), "two goroutines run, with one P");
                });
                int _ = blocking(() -> {
                    while (!started.get()) {
                        Thread.onSpinWait();
                    }
                    return 1;
                });
                returned.set(true);
                other.await();
            });
        }
    }

    /** Calls that end at about the moment when sysmon takes their P; never do more goroutines run than there are Ps. */
    @Stress
    void returnsRaceWithRetake() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            AtomicInteger running = new AtomicInteger();
            AtomicInteger calls = new AtomicInteger();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 6; i++) {
                    wg.go(() -> {
                        for (int k = 0; k < CALLS; k++) {
                            long nanos = ThreadLocalRandom.current().nextInt(150_000);
                            calls.addAndGet(blocking(() -> {
                                long end = System.nanoTime() + nanos;
                                while (System.nanoTime() < end) {
                                    Thread.onSpinWait();
                                }
                                return 1;
                            }));
                            GStack st = GStack.enter(); // From here on it has a P, or the count shows it.
                            int now = running.incrementAndGet();
                            running.decrementAndGet();
                            GStack.exit(st);
                            assertFalse(now > 2, "more goroutines run than there are Ps");
                        }
                    });
                }
                wg.await();
            });
            assertEquals(6 * CALLS, calls.get());
            gmp.check();
        }
    }

    /** M5: m.incgo says that the M is in a call, until the goroutine enters the runtime or leaves the thread. */
    @Test
    void theMKnowsThatItIsInACall() {
        try (TestGmp gmp = onePNoPreemption()) {
            gmp.run(() -> {
                long[] mp = new long[1];
                Go.lockOSThread(); // On one M all the time.
                mp[0] = Machine.of().mp;
                assertEquals(0, M.incgo(mp[0]));
                int _ = blocking(() -> {
                    assertEquals(1, M.incgo(mp[0]));
                    Go.gosched();
                    assertEquals(0, M.incgo(mp[0]), "after a call of the runtime");
                    return 1;
                });
                var _ = blocking(() -> {
                    assertEquals(1, M.incgo(mp[0]));
                    Thread.yield();
                    assertEquals(0, M.incgo(mp[0]), "after the JDK took the goroutine off the thread");
                    return 1;
                });
                var _ = blocking(() -> 1);
                assertEquals(0, M.incgo(mp[0]));
                Go.unlockOSThread();
            });
        }
    }

    /** A goroutine that sleeps in the kernel where nobody told the runtime: the P goes to the one that can end the sleep. */
    @Test
    void aThreadAsleepLosesItsP() {
        try (TestGmp gmp = onePNoPreemption()) {
            gmp.run(() -> {
                CountDownLatch other = new CountDownLatch(1);
                Go.go(other::countDown);
                PinningCall.run(() -> {
                    try {
                        other.await(); // With a native frame on the stack: the thread sleeps.
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
            });
        }
    }
}
