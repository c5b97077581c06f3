// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** How long sysmon sleeps after a look: so that it is behind its share of the CPU when it wakes up, and takes little of each quantum. */
class FairSleepTest {
    private static final long SHORT = Sysmon.BUDGET;
    private static final long LONG = 50 * Sysmon.BUDGET;

    /** Beside a hog and a few compiler threads each has run as long as the look and its switches took when it wakes up. */
    @Test
    void aLookIsPaidForBeforeTheNext() {
        for (long awake : new long[] {1_000, 10_000, 40_000}) {
            long least = Sysmon.OTHERS * (awake + Sysmon.SWITCHES);
            assertTrue(Sysmon.fairSleep(awake, SHORT, false) >= least, "after a look of " + awake + " ns");
        }
        assertEquals(69_000, Sysmon.fairSleep(3_000, SHORT, false));
        assertEquals(60_000, Sysmon.fairSleep(40_000, LONG, true));
        assertEquals(Sysmon.MAX_FAIR_SLEEP, Sysmon.fairSleep(50_000_000, SHORT, false));
    }

    /** With the switches, which the kernel counts. */
    @Test
    void ofEachQuantumItTakesItsBudget() {
        assertEquals(50 * 25_000, Sysmon.fairSleep(5_000, LONG, false));
        assertEquals(5 * 25_000, Sysmon.fairSleep(5_000, 5 * Sysmon.BUDGET, false));
        assertEquals(LONG, Sysmon.fairSleep(1_000_000, LONG, false), "but it looks once in each");
        assertEquals(50 * 25_000, Sysmon.fairSleep(5_000, 1_000 * LONG, false));
        assertEquals(Sysmon.MAX_SLEEP, Sysmon.fairSleep(1_000_000, 1_000 * LONG, false));
    }

    /** One that blocks leaves its CPU to sysmon: only the P that it holds waits. */
    @Test
    void whoBlocksIsLookedAtSooner() {
        assertTrue(Sysmon.fairSleep(40_000, SHORT, true) < Sysmon.fairSleep(40_000, SHORT, false));
        assertTrue(Sysmon.fairSleep(40_000, SHORT, true) > 40_000);
    }
}
