// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Go;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.policy.Pacing;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Sysmon passes what its scan saw to {@link org.gmp4j.policy.Pacing}. The clock is the test's. */
class SleepForTest {
    private static final long QUANTUM = 8_000_000;
    private static final long PART = 1_000_000;
    private static final long LONG = 10_000_000;
    private static final long LEAST = 20_000;
    private static final long SECOND = 1_000_000_000;
    private static final long MINUTE = 60 * SECOND;
    private static final int SLICES = 100;
    private static final int LOOKS = 1_000;

    /** Returns the sleep of a sysmon whose last scan found nothing to do, and whose growing sleep is {@code sleep}. */
    private static long sleepFor(Sysmon y, long sleep, long now) {
        y.idle = 1;
        y.sleep = sleep;
        return y.sleepFor(now);
    }

    /** Many slices since the last look: they are not timed, and it is not known when the last one began. */
    private static void lookInexactly(Retake retake, long now) {
        boolean _ = retake.look(now);
        long pp = Machine.current().pp();
        P.SCHEDTICK.setOpaque(pp, P.SCHEDTICK.getOpaque(pp) + SLICES);
        var _ = retake.look(now + SLICES);
        assertFalse(retake.seen.exact);
    }

    /** Returns the least sleep of a sysmon that has just woken up. */
    private static long leastSleep(Sysmon y, long now) {
        y.wokenCpu = OsThread.cpuNanos(0);
        return y.leastSleep(now, false);
    }

    @Test
    void whileOneRunsAlone() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM)) {
            Sysmon y = gmp.sysmon();
            Retake retake = y.retake;
            gmp.run(() -> {
                long now = System.nanoTime();
                boolean _ = retake.look(now);
                assertTrue(retake.seen.exact);
                long over = now + retake.seen.untilOver(now);
                assertEquals(QUANTUM, sleepFor(y, LEAST, over - QUANTUM));
                assertEquals(PART, sleepFor(y, LEAST, over - PART), "until the quantum ends");
                assertEquals(LEAST, sleepFor(y, LONG, over));
                lookInexactly(retake, now + SECOND);
                assertEquals(QUANTUM / 4, sleepFor(y, LONG, now + SECOND));
                assertEquals(LEAST, sleepFor(y, LEAST, now + SECOND), "it doubles from there");
            });
        }
    }

    /** With schedtrace sysmon sleeps as without it, and wakes up for the next line. */
    @Test
    void schedtraceWhileAllPsAreIdle() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).debug("schedtrace=100000"))) {
            var _ = DeepSleeper.of(gmp.scheduler());
        }
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).debug("schedtrace=2000"))) {
            Scheduler s = gmp.scheduler();
            Sysmon y = (Sysmon) s.monitor();
            while (Schedt.SYSMONWAIT.getAcquire(s.sched) != Schedt.SYSMON_SLEEPS || y.sleeps <= Pacing.DEEP_SLEEP) {
                y.deepSleep = Pacing.LONG_SLEEP; // The length of the sleep after the present one.
                Thread.sleep(1);
            }
            assertTrue(y.sleeps <= 2 * SECOND, () -> "sleeps " + y.sleeps);
        }
    }

    @Test
    void whileWorkWaits() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM)) {
            Sysmon y = gmp.sysmon();
            Retake retake = y.retake;
            gmp.run(() -> {
                Go.go(() -> { });
                long pp = Machine.current().pp();
                P.SCHEDTICK.setOpaque(pp, P.SCHEDTICK.getOpaque(pp) + 1); // A slice that begins with the look.
                long now = System.nanoTime();
                boolean _ = retake.look(now);
                assertTrue(retake.seen.exact);
                long over = now + retake.seen.untilOver(now);
                assertEquals(QUANTUM, sleepFor(y, LEAST, over - QUANTUM));
                assertEquals(PART, sleepFor(y, LEAST, over - PART), "until the quantum ends");
                assertEquals(LEAST, sleepFor(y, LONG, over));
                P.SCHEDTICK.setOpaque(pp, P.SCHEDTICK.getOpaque(pp) + 1);
                lookInexactly(retake, now + SECOND);
                assertEquals(QUANTUM / 2, sleepFor(y, LONG, now + SECOND));
                assertEquals(LEAST, sleepFor(y, LEAST, now + SECOND), "it doubles from there");
            });
        }
    }

    /** The sleep after a deep one that a thread ended: a call that blocks may be the first that runs then. */
    @Test
    void afterADeepSleep() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM)) {
            Sysmon y = gmp.sysmon();
            long note = Schedt.sysmonnoteAddress(gmp.s.sched);
            assertTrue(y.rested(note));
            assertEquals(QUANTUM, y.sleeps);
            y.retake.seen.takesFromSleeper();
            assertTrue(y.rested(note));
            assertEquals(500_000, y.sleeps);
        }
    }

    /** Many Gs may come for a P at any time. With a range of quanta they make its slice as short as the least quantum. */
    @Test
    void ofARange() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(PART, QUANTUM)) {
            Sysmon y = gmp.sysmon();
            assertTrue(y.rested(Schedt.sysmonnoteAddress(gmp.s.sched)));
            assertEquals(PART, y.sleeps);
            gmp.run(() -> {
                long now = System.nanoTime();
                var _ = y.retake.look(now);
                assertTrue(sleepFor(y, LONG, now) <= PART);
            });
        }
    }

    /** A goroutine that was asked to yield is scanned again soon, also by a sysmon that has used up its budget. */
    @Test
    void afterARequest() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM)) {
            Sysmon y = gmp.sysmon();
            long now = System.nanoTime();
            y.wokenCpu -= SECOND;
            assertEquals(LONG, y.leastSleep(now, false));
            y.retake.seen.awaits(0);
            assertTrue(leastSleep(y, now) < 500_000);
            y.retake.seen.noneRuns(now);
            assertEquals(LONG, leastSleep(y, now));
        }
    }

    /** A thread that seems to sleep with a P is looked at again soon; and after one that did, another may. */
    @Test
    void whileOneSleeps() throws InterruptedException {
        assumeTrue(Gate.possible());
        try (Unwatched gmp = new Unwatched(MINUTE)) { // Its clock is the usual one here.
            Sysmon y = gmp.sysmon();
            Retake retake = y.retake;
            AtomicLong mp = new AtomicLong();
            CountDownLatch end = new CountDownLatch(1);
            Newproc.newproc(gmp.s, () -> {
                Go.go(() -> { });
                PinningCall.run(() -> {
                    mp.set(Machine.current().mp);
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
            });
            try {
                while (mp.get() == 0 || OsThread.state((int) M.PROCID.get(mp.get())) != 'S') {
                    Thread.onSpinWait();
                }
                long pp = gmp.s.procs()[0].pp;
                long now = System.nanoTime();
                long _ = y.leastSleep(now, false); // It has not woken up yet, and so uses its budget up.
                assertTrue(leastSleep(y, now) > 500_000);
                boolean seen = false;
                for (int i = 0; i < LOOKS && !seen; i++) { // The thread may not be quite asleep yet.
                    P.SCHEDTICK.setOpaque(pp, P.SCHEDTICK.getOpaque(pp) + 1); // No two scans see the same slice.
                    assertFalse(retake.look(System.nanoTime()));
                    seen = retake.seen.suspected;
                }
                assertTrue(seen, "asleep in a slice that is new to sysmon");
                seen = false;
                P.SCHEDTICK.setOpaque(pp, P.SCHEDTICK.getOpaque(pp) + 1);
                while (!retake.look(System.nanoTime())) { // The thread may not be quite asleep yet.
                    if (retake.seen.suspected) {
                        seen = true;
                        assertEquals(100_000, sleepFor(y, LONG, System.nanoTime()));
                    }
                }
                assertTrue(seen);
                assertTrue(retake.seen.tookFromSleeper());
                assertEquals(500_000, sleepFor(y, LONG, System.nanoTime()));
                now = System.nanoTime();
                assertTrue(leastSleep(y, now) < 500_000, "the P that it took pays for it");
                boolean _ = retake.look(now);
                y.wokenCpu -= SECOND;
                var _ = y.leastSleep(now, false);
                assertTrue(leastSleep(y, now) > 500_000, "another scan took none");
            } finally {
                end.countDown();
            }
        }
    }
}
