// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rows of the table of {@link ScanBudget}. */
class ScanBudgetTest {
    private static final long LONG = ScanBudget.LONGEST_QUANTUM;
    private static final long LOOK = 25_000;
    /** The time of a scan in a young program, where it is interpreted. */
    private static final long INTERPRETED = 240_000;

    @Test
    void rules() {
        RuleTable.of(ScanBudget.class)
                .row("Scans follow each other.", this::ofEachQuantumItTakesItsPart)
                .row("Sysmon has taken less", this::atTheEndOfAQuantumItMayLookOften)
                .row("For less than", this::aRequestIsFollowedUpAtOnce)
                .row("A scan has taken a P", this::aTakeIsFree)
                .row("Sysmon has taken more", this::itLooksAllTheSame)
                .end();
    }

    private void ofEachQuantumItTakesItsPart() {
        for (long quantum : new long[] {ScanBudget.PART, 5 * ScanBudget.PART, LONG, 1_000 * LONG}) {
            ScanBudget b = new ScanBudget(quantum, 0);
            long now = 0;
            for (int i = 0; i < 1_000; i++) {
                now += b.owes(LOOK, false, now);
            }
            long parts = Math.min(quantum, LONG) / ScanBudget.PART;
            assertEquals(1_000 * LOOK * parts - ScanBudget.SAVED * Math.min(quantum, LONG), now, "but for what it had saved");
        }
    }

    /** The looks that bring a goroutine to a point follow each other as closely as fairSleep allows. */
    private void atTheEndOfAQuantumItMayLookOften() {
        ScanBudget b = new ScanBudget(LONG, 0);
        for (long over = 2 * LONG; over < 20 * LONG; over += 2 * LONG) {
            for (long now = over - 3 * LONG / 4; now < over; now += LONG / 4) {
                assertEquals(0, b.owes(LOOK, false, now));
            }
            for (int i = 0; i < 4; i++) {
                assertEquals(0, b.owes(LOOK, false, over + i * Pacing.fairSleep(LOOK - Pacing.SWITCHES, false)));
            }
        }
    }

    private void aRequestIsFollowedUpAtOnce() {
        ScanBudget b = new ScanBudget(LONG, 0);
        assertEquals(0, b.owes(INTERPRETED, true, 0));
        assertTrue(b.owes(1, false, 0) > INTERPRETED, "charged");
    }

    private void aTakeIsFree() {
        ScanBudget b = new ScanBudget(LONG, 0);
        assertTrue(b.owes(INTERPRETED, false, 0) > 0);
        b.renew(1);
        assertEquals(0, b.owes(ScanBudget.SAVED * ScanBudget.PART, false, 1));
        assertTrue(b.owes(1, false, 1) > 0);
    }

    /** What a thread asleep holds does not wait for all that sysmon owes. */
    private void itLooksAllTheSame() {
        ScanBudget b = new ScanBudget(LONG, 0);
        long now = 0;
        for (int i = 0; i < 10; i++) {
            long owes = b.owes(INTERPRETED, false, now);
            assertTrue(owes <= Pacing.MAX_SLEEP);
            now += owes;
        }
        assertEquals(Pacing.MAX_SLEEP, b.owes(INTERPRETED, false, now));
    }
}
