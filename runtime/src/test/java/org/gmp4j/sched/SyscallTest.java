// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Go;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link Syscall} and {@link Retake}: where the P of a goroutine is that blocks its thread. */
class SyscallTest {
    private static final long HELD_NANOS = 50_000_000;
    private static final int CALLS = 2_000;
    private static final int ROUNDS = 15;
    private static final long SHORT_WORK = 3_000;
    /** Some 60 slices' worth of short calls. */
    private static final long SLICES_OF_ROUNDS = 20_000;

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
                assertEquals(0, M.INCGO.get(mp[0]));
                int _ = blocking(() -> {
                    assertEquals(1, M.INCGO.get(mp[0]));
                    Go.gosched();
                    assertEquals(0, M.INCGO.get(mp[0]), "after a call of the runtime");
                    return 1;
                });
                var _ = blocking(() -> {
                    assertEquals(1, M.INCGO.get(mp[0]));
                    Thread.yield();
                    assertEquals(0, M.INCGO.get(mp[0]), "after the JDK took the goroutine off the thread");
                    return 1;
                });
                var _ = blocking(() -> 1);
                assertEquals(0, M.INCGO.get(mp[0]));
                Go.unlockOSThread();
            });
        }
    }

    /** A goroutine that sleeps in the kernel without an announcement loses its P to the goroutine that can end the sleep. */
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

    /** Go's sysretake: a goroutine that makes one short call after the other has its slice, and then the next one runs. */
    @Test
    void aLoopOfShortCallsHasASlice() {
        long[] rounds = new long[ROUNDS];
        AtomicLong round = new AtomicLong();
        AtomicBoolean stop = new AtomicBoolean();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)))) {
            gmp.go(() -> {
                while (!stop.get()) {
                    int _ = blocking(SyscallTest::shortWork);
                    round.incrementAndGet();
                }
            });
            try {
                for (int i = 0; i < ROUNDS; i++) {
                    long before = round.get();
                    rounds[i] = gmp.call(round::get) - before;
                }
            } finally {
                stop.set(true);
            }
        }
        Arrays.sort(rounds);
        assertTrue(rounds[ROUNDS / 2] < SLICES_OF_ROUNDS, Arrays.toString(rounds));
    }

    private static int shortWork() {
        long end = System.nanoTime() + SHORT_WORK;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        return 1;
    }

    /** Which would begin when the P was another's meanwhile. */
    @Test
    void aCallThatKeepsItsPBeginsNoSlice() {
        try (TestGmp gmp = onePNoPreemption()) {
            gmp.run(() -> {
                long pp = Machine.current().pp();
                int slices = P.SCHEDTICK.getOpaque(pp);
                int calls = P.SYSCALLTICK.getOpaque(pp);
                for (int i = 0; i < CALLS; i++) {
                    int _ = blocking(() -> 1);
                }
                assertTrue(P.SYSCALLTICK.getOpaque(pp) - calls >= CALLS);
                assertTrue(P.SCHEDTICK.getOpaque(pp) - slices < CALLS / 2, "but for those that sysmon took it from");
            });
        }
    }

    /** After a call that lost its P the next one gives it away as it begins, if work waits; the one after a short one does not. */
    @Test
    void afterALongCallTheNextHandsItsPOff() {
        AtomicBoolean stop = new AtomicBoolean();
        try (TestGmp gmp = onePNoPreemption()) {
            gmp.go(() -> {
                while (!stop.get()) {
                    Go.gosched(); // Work waits.
                }
            });
            try {
                gmp.run(() -> {
                    for (boolean seen = false; !seen;) { // Sysmon may be late, and what is to be a short call may take long.
                        var _ = blocking(() -> keepsP(HELD_NANOS / 10));
                        boolean second = blocking(() -> keepsP(HELD_NANOS / 10));
                        boolean aShortOne = blocking(() -> keepsP(0));
                        boolean theNext = blocking(() -> keepsP(0));
                        seen = !second && !aShortOne && theNext;
                    }
                });
            } finally {
                stop.set(true);
            }
        }
    }

    /** In a call of so long: whether the goroutine left its P in _Psyscall, for itself or for sysmon. */
    private static boolean keepsP(long nanos) {
        boolean keeps = M.OLDP.get(Machine.of().mp) != 0;
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        return keeps;
    }

    /** For some milliseconds after a P was taken from a call sysmon wants to hear of the next one, also while it sleeps long. */
    @Test
    void sysmonHearsOfCallsAfterALongOne() {
        AtomicBoolean stop = new AtomicBoolean();
        try (TestGmp gmp = onePNoPreemption()) {
            gmp.go(() -> {
                while (!stop.get()) {
                    Go.gosched();
                }
            });
            try {
                gmp.run(() -> {
                    long sched = Machine.current().s.sched;
                    for (boolean heard = false; !heard;) {
                        var _ = blocking(() -> keepsP(0)); // A short call: after a long one calls give the P away as they begin.
                        var _ = blocking(() -> keepsP(HELD_NANOS / 10));
                        long end = System.nanoTime() + HELD_NANOS;
                        while (!heard && System.nanoTime() < end) {
                            heard = Schedt.SYSMONWAIT.getAcquire(sched) == Schedt.SYSMON_HEARS;
                        }
                    }
                });
            } finally {
                stop.set(true);
            }
        }
    }
}
