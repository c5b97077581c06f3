// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** How long sysmon sleeps after a look: so that it is behind its share of the CPU when it wakes up, and takes little of each quantum. */
class FairSleepTest {
    private static final long LONG = LookBudget.LONGEST_QUANTUM;
    private static final long LOOK = 25_000;
    /** Of a young program. */
    private static final long INTERPRETED = 120_000;
    private static final long MOST = LookBudget.LONGEST;

    /** Beside a hog and a few compiler threads each has run as long as the look and its switches took when it wakes up. */
    @Test
    void aLookIsPaidForBeforeTheNext() {
        for (long awake : new long[] {1_000, 10_000, 40_000}) {
            assertTrue(Sysmon.fairSleep(awake, false) >= Sysmon.OTHERS * (awake + Sysmon.SWITCHES), "after a look of " + awake + " ns");
        }
        assertEquals(69_000, Sysmon.fairSleep(3_000, false));
        assertEquals(60_000, Sysmon.fairSleep(40_000, true));
    }

    /** One that blocks leaves its CPU to sysmon: only the P that it holds waits. */
    @Test
    void whoBlocksIsLookedAtSooner() {
        assertTrue(Sysmon.fairSleep(40_000, true) < Sysmon.fairSleep(40_000, false));
        assertTrue(Sysmon.fairSleep(40_000, true) > 40_000);
        assertEquals(Sysmon.MAX_FAIR_SLEEP, Sysmon.fairSleep(50_000_000, true));
    }

    @Test
    void ofEachQuantumItTakesItsPart() {
        for (long quantum : new long[] {LookBudget.PART, 5 * LookBudget.PART, LONG, 1_000 * LONG}) {
            LookBudget b = new LookBudget(quantum, 0);
            long now = 0;
            for (int i = 0; i < 1_000; i++) {
                now += b.owes(LOOK, now);
            }
            long parts = Math.min(quantum, LONG) / LookBudget.PART;
            assertEquals(1_000 * LOOK * parts - Math.min(quantum, LONG), now, "but for what it had saved");
        }
    }

    /** The looks that bring a goroutine to a point follow each other as closely as fairSleep allows. */
    @Test
    void atTheEndOfAQuantumItMayLookOften() {
        LookBudget b = new LookBudget(LONG, 0);
        for (long over = LONG; over < 10 * LONG; over += LONG) {
            for (long now = over - 3 * LONG / 4; now < over; now += LONG / 4) {
                assertEquals(0, b.owes(LOOK, now));
            }
            for (int i = 0; i < 4; i++) {
                assertEquals(0, b.owes(LOOK, over + i * Sysmon.fairSleep(LOOK - Sysmon.SWITCHES, false)));
            }
        }
    }

    /** What a thread asleep holds does not wait for all that sysmon owes. */
    @Test
    void itLooksAllTheSame() {
        LookBudget b = new LookBudget(LONG, 0);
        long now = 0;
        for (int i = 0; i < 10; i++) {
            long owes = b.owes(INTERPRETED, now);
            assertTrue(owes <= MOST);
            now += owes;
        }
        assertEquals(MOST, b.owes(INTERPRETED, now));
    }
}
