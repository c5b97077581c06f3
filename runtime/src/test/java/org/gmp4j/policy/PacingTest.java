// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rows of the table of {@link Pacing}. */
class PacingTest {
    private static final long NOW = -5_000_000_000_000L; // As System.nanoTime may be.
    private static final long QUANTUM = 8_000_000;
    private static final long SHORT = 200_000;
    private static final long LONG = 10_000_000;

    /** Returns a scan that found a goroutine whose slice, of known begin, ends after {@code nanos} ns. */
    private static Scan running(boolean workWaits, long nanos) {
        Scan seen = new Scan(NOW, QUANTUM);
        long _ = seen.begin(NOW, QUANTUM);
        seen.busy = true;
        seen.workWaits = workWaits;
        seen.endsAt(NOW + nanos);
        return seen;
    }

    private static Scan unknown(boolean workWaits, long shortest) {
        Scan seen = running(workWaits, 0);
        seen.exact = false;
        seen.shortestSlice = shortest;
        return seen;
    }

    /** Returns the sleep where nothing was found to do, and the sleep that grows is the longest. */
    private static long sleep(Scan seen, boolean anyIdle) {
        return Pacing.sleep(seen, NOW, LONG, false, false, QUANTUM, anyIdle);
    }

    @Test
    void rules() {
        RuleTable.of(Pacing.class)
                .row("The last scan found", PacingTest::foundWork)
                .row("A P is in a system call, and at most", PacingTest::fewScansInSyscall)
                .row("A P is in a system call and more", PacingTest::grows)
                .row("A P runs a goroutine, and the starts", PacingTest::known)
                .row("Work waits, and the start", PacingTest::unknownWhileWorkWaits)
                .row("No work waits, and the start", PacingTest::unknownAlone)
                .row("A P runs a goroutine, whose thread", PacingTest::mayFallAsleep)
                .row("A P runs a goroutine, a thread fell asleep", PacingTest::fellAsleep)
                .row("A thread seems asleep", PacingTest::suspected)
                .row("A stray", PacingTest::stray)
                .row("A goroutine has used up its slice, and work waits", PacingTest::usedUpWhileWorkWaits)
                .row("A goroutine's slice is over", PacingTest::usedUpByTheClock)
                .row("A goroutine has used up its quantum, and no", PacingTest::usedUpAlone)
                .row("A goroutine has used up its quantum, no work waits, a P is idle", PacingTest::usedUpBesideAnIdleP)
                .row("A goroutine was asked", PacingTest::asked)
                .row("A goroutine that was asked", PacingTest::askedInside)
                .row("All Ps are idle, or a thread has ended a deep sleep.", PacingTest::light)
                .row("All Ps are idle, or a thread has ended a deep sleep, and", PacingTest::lightAfterASleeper)
                .row("All Ps were idle", PacingTest::deep)
                .row("A duty for which", PacingTest::duties)
                .row("A goroutine enters", PacingTest::calls)
                .row("Always", PacingTest::fair)
                .end();
    }

    private static void foundWork() {
        assertEquals(20_000, Pacing.grown(LONG, 0, false));
        assertEquals(20_000, Pacing.grown(LONG, 0, true));
        assertEquals(20_000, Pacing.sleep(running(false, QUANTUM), NOW, 20_000, true, false, QUANTUM, true));
    }

    private static void fewScansInSyscall() {
        assertEquals(20_000, Pacing.grown(20_000, 1, true));
        assertEquals(80_000, Pacing.grown(80_000, 50, true));
    }

    private static void grows() {
        assertEquals(160_000, Pacing.grown(80_000, 51, true));
        assertEquals(40_000, Pacing.grown(20_000, 1, false));
        assertEquals(LONG, Pacing.grown(8_000_000, 100, false));
        Scan seen = running(false, QUANTUM);
        seen.inSyscall = true;
        assertEquals(20_000, Pacing.sleep(seen, NOW, 20_000, false, false, QUANTUM, true));
        seen = running(false, QUANTUM);
        seen.suspected = true;
        assertEquals(20_000, Pacing.sleep(seen, NOW, 20_000, false, false, QUANTUM, true));
        assertEquals(20_000, Pacing.sleep(later(unknown(true, QUANTUM)), NOW, 20_000, false, false, QUANTUM, true));
        assertEquals(20_000, Pacing.sleep(later(unknown(false, QUANTUM)), NOW, 20_000, false, false, QUANTUM, true));
        seen.noneRuns(NOW);
        assertEquals(40_000, Pacing.sleep(seen, NOW, 40_000, false, false, QUANTUM, true), "nothing runs");
    }

    private static void known() {
        for (boolean workWaits : new boolean[] {false, true}) {
            assertEquals(1_000_000, sleep(running(workWaits, 1_000_000), true));
            assertEquals(20_000, sleep(running(workWaits, 0), true));
        }
    }

    private static void unknownWhileWorkWaits() {
        Scan seen = unknown(true, 2_000_000);
        seen = later(seen);
        assertEquals(1_000_000, sleep(seen, true));
        assertEquals(20_000, sleep(later(unknown(true, 30_000)), true));
    }

    /** Returns a scan like that one, in which no slice ends soon. */
    private static Scan later(Scan like) {
        Scan seen = running(like.workWaits, QUANTUM);
        seen.exact = like.exact;
        seen.shortestSlice = like.shortestSlice;
        return seen;
    }

    private static void unknownAlone() {
        assertEquals(QUANTUM / 4, sleep(unknown(false, QUANTUM), true));
        assertEquals(20_000, Pacing.sleep(unknown(false, QUANTUM), NOW, LONG, false, false, 40_000, true));
    }

    private static void mayFallAsleep() {
        for (boolean workWaits : new boolean[] {false, true}) {
            for (boolean anyIdle : new boolean[] {false, true}) {
                assertEquals(QUANTUM, sleep(running(workWaits, QUANTUM), anyIdle));
            }
        }
        assertEquals(500_000, Pacing.light(SHORT));
        assertEquals(1_000_000, Pacing.light(1_000_000));
    }

    private static void fellAsleep() {
        Scan seen = running(true, QUANTUM);
        seen.takesFromSleeper();
        assertEquals(500_000, sleep(seen, true), "work waits");
        seen.workWaits = false;
        assertEquals(500_000, sleep(seen, false), "no P is idle");
        assertEquals(QUANTUM, sleep(seen, true));
        long _ = seen.begin(NOW + 999_999_999, QUANTUM);
        assertTrue(seen.tookFromSleeper());
        long _ = seen.begin(NOW + 1_000_000_000, QUANTUM);
        assertFalse(seen.tookFromSleeper());
        assertFalse(new Scan(NOW, QUANTUM).tookFromSleeper(), "at first");
    }

    private static void suspected() {
        Scan seen = running(true, QUANTUM);
        seen.suspected = true;
        assertEquals(100_000, sleep(seen, true));
    }

    private static void stray() {
        assertEquals(500_000, Pacing.sleep(running(false, QUANTUM), NOW, LONG, false, true, QUANTUM, true));
    }

    private static void usedUpWhileWorkWaits() {
        assertEquals(2_500_000, Pacing.again(10_000_000, 10_000_000));
        assertEquals(1_000_000, Pacing.again(1_000_000, 10_000_000));
        assertEquals(250_000, Pacing.again(1_000_000, 1_000_000));
        assertEquals(250_000, Pacing.again(200_000, 200_000), "a scan costs some 30 µs");
        assertEquals(250_000, Pacing.again(20_000, 10_000_000));
    }

    private static void usedUpByTheClock() {
        assertEquals(300_000, Pacing.untilUsed(300_000, true, 2_500_000));
        assertEquals(50_000, Pacing.untilUsed(1, true, 2_500_000));
        assertEquals(9_000_000, Pacing.untilUsed(9_000_000, true, 2_500_000));
        assertEquals(9_000_000, Pacing.untilUsed(9_000_000, false, 2_500_000));
        assertEquals(2_500_000, Pacing.untilUsed(300_000, false, 2_500_000), "it may have none for long");
        assertEquals(2_500_000, Pacing.untilUsed(0, true, 2_500_000), "it was asked to yield");
    }

    private static void usedUpAlone() {
        assertEquals(2_500_000, Pacing.alone(false, 10_000_000));
        assertEquals(250_000, Pacing.alone(false, 1_000_000));
        assertEquals(250_000, Pacing.alone(false, 500_000), "a scan costs some 30 µs");
        assertEquals(200_000, Pacing.alone(false, 200_000));
    }

    private static void usedUpBesideAnIdleP() {
        assertEquals(500_000, Pacing.alone(true, 200_000));
        assertEquals(1_000_000, Pacing.alone(true, 1_000_000));
        assertEquals(1_000_000, Pacing.alone(true, 2_500_000));
        assertEquals(2_500_000, Pacing.alone(true, 10_000_000));
    }

    private static void asked() {
        assertEquals(0, Pacing.untilPoint(499_999, false));
        assertEquals(250_000, Pacing.untilPoint(499_999, true));
        assertEquals(Long.MAX_VALUE, Pacing.untilPoint(500_000, false));
        assertEquals(Long.MAX_VALUE, Pacing.untilPoint(500_000, true));
        Scan seen = running(true, QUANTUM);
        seen.awaits(Long.MAX_VALUE);
        assertEquals(QUANTUM, seen.untilOver(NOW));
        seen.awaits(250_000);
        assertEquals(250_000, seen.untilOver(NOW));
        seen.awaits(0);
        assertEquals(0, seen.untilOver(NOW));
        assertEquals(20_000, sleep(seen, true));
        long _ = seen.begin(NOW, QUANTUM);
        assertEquals(Long.MAX_VALUE, seen.untilOver(NOW), "the next scan begins anew");
    }

    private static void askedInside() {
        assertEquals(50_000, Pacing.PROMPT);
        assertEquals(50_000, Pacing.untilReleased(499_999));
        assertEquals(Long.MAX_VALUE, Pacing.untilReleased(500_000));
    }

    private static void light() {
        assertFalse(Pacing.isDeep(false, QUANTUM - 1, QUANTUM, false));
        assertEquals(QUANTUM, Pacing.light(QUANTUM));
        assertEquals(LONG, Pacing.light(2 * LONG));
    }

    private static void lightAfterASleeper() {
        Scan seen = new Scan(NOW, QUANTUM);
        assertEquals(QUANTUM, Pacing.blocked(seen, QUANTUM));
        seen.takesFromSleeper();
        assertEquals(500_000, Pacing.blocked(seen, QUANTUM));
        assertTrue(seen.hasTakenFromSleeper());
        seen.noneRuns(NOW + 999_999_999);
        assertFalse(seen.hasTakenFromSleeper(), "the next scan finds all Ps idle");
        assertEquals(500_000, Pacing.blocked(seen, QUANTUM));
        seen.noneRuns(NOW + 1_000_000_000);
        assertEquals(QUANTUM, Pacing.blocked(seen, QUANTUM));
    }

    private static void deep() {
        assertTrue(Pacing.isDeep(false, QUANTUM, QUANTUM, false));
        assertFalse(Pacing.isDeep(false, QUANTUM, QUANTUM, true));
        assertTrue(Pacing.isDeep(true, 0, QUANTUM, true));
        assertEquals(60_000_000, Pacing.deep(480_000_000, false));
        assertEquals(120_000_000, Pacing.deep(60_000_000, true));
        assertEquals(10_000_000_000L, Pacing.deep(7_000_000_000L, true));
    }

    private static void duties() {
        assertEquals(60_000_000, Pacing.untilDue(true, 10_000_000_000L, false, false, 0));
        assertEquals(10_000_000_000L, Pacing.untilDue(false, 10_000_000_000L, false, false, 1));
        assertEquals(20_000, Pacing.untilDue(false, -1, false, false, 0), "overdue");
        assertEquals(10_000_000, Pacing.untilDue(true, 10_000_000, false, false, 0), "due before the next part");
        assertEquals(1_000_000_000, Pacing.untilDue(false, 10_000_000_000L, false, true, 1), "a stray");
        assertEquals(1_000_000_000, Pacing.untilDue(false, 10_000_000_000L, true, false, 0), "a deadlock that is held back");
        assertEquals(70_000_000, Pacing.untilDue(false, 10_000_000_000L, true, false, 70_000_000));
        assertEquals(20_000, Pacing.untilDue(false, 10_000_000_000L, true, false, 1));
    }

    private static void calls() {
        assertTrue(Pacing.isEndedByCalls(100_000, true));
        assertFalse(Pacing.isEndedByCalls(99_999, true));
        assertFalse(Pacing.isEndedByCalls(LONG, false));
        Scan seen = new Scan(NOW, QUANTUM);
        assertFalse(seen.tookFromSyscall(), "at first");
        long _ = seen.begin(NOW, QUANTUM);
        seen.takesFromSyscall();
        assertEquals(19_999_999, seen.begin(NOW + 19_999_999, QUANTUM));
        assertTrue(seen.tookFromSyscall());
        assertEquals(1, seen.begin(NOW + 20_000_000, QUANTUM));
        assertFalse(seen.tookFromSyscall());
    }

    /** Beside a goroutine that does not yield and a few compiler threads each has run as long as the scan and its switches took. */
    private static void fair() {
        for (long awake : new long[] {1_000, 10_000, 40_000}) {
            assertEquals(3 * (awake + Pacing.SWITCHES), Pacing.fairSleep(awake, false), "after a scan of " + awake + " ns");
        }
        assertEquals(60_000, Pacing.fairSleep(40_000, true), "a thread that blocks leaves its CPU to sysmon");
        assertEquals(200_000, Pacing.fairSleep(50_000_000, true));
        assertEquals(200_000, Pacing.fairSleep(50_000_000, false));
    }
}
