// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rows of the table of {@link Spin}. */
class SpinTest {
    private static final int PROCS = 8;
    private static final long LATE = 50_000;
    private static final String FOUND = "Under a latency policy a spinner has found work, ";

    @Test
    void rules() {
        RuleTable.of(Spin.class)
                .row("An M has no work", SpinTest::first)
                .row("Others spin", SpinTest::another)
                .row("Others spin, and one", SpinTest::enough)
                .row("Work is queued", SpinTest::late)
                .row("Work is queued, Ms are", SpinTest::awaited)
                .row("An M that was woken", () -> assertEquals(150_000, Spin.NEW_THREAD))
                .row("An M has found no work", SpinTest::naps)
                .row("A latency policy", SpinTest::limited)
                .row(FOUND + "no other P is busy, and the last stand-in was of use", SpinTest::standIn)
                .row(FOUND + "no other P is busy, and the last stand-in was in vain", SpinTest::noStandIn)
                .row(FOUND + "and other Ps are busy", SpinTest::ofUse)
                .row("An M that has a stand-in runs out of work, and no spinner", SpinTest::inVain)
                .row("An M that has a stand-in runs out of work, and a spinner", SpinTest::notInVain)
                .end();
    }

    private static void first() {
        for (int procs = 1; procs <= PROCS; procs++) {
            for (int idle = 0; idle <= procs; idle++) {
                assertFalse(Spin.isEnough(0, procs, idle));
            }
        }
    }

    private static void another() {
        assertFalse(Spin.isEnough(1, PROCS, 0));
        assertFalse(Spin.isEnough(3, PROCS, 0));
        assertFalse(Spin.isEnough(1, PROCS, 5), "three are busy");
    }

    private static void enough() {
        assertTrue(Spin.isEnough(4, PROCS, 0), "half of all");
        assertTrue(Spin.isEnough(1, PROCS, 6), "half of the busy ones");
        assertTrue(Spin.isEnough(1, 1, 0));
        assertTrue(Spin.isEnough(1, 3, 0), "at most half of the Ps");
    }

    private static void late() {
        assertTrue(Spin.isLate(LATE + 1, 1));
        assertTrue(Spin.isLate(3 * LATE + 1, 3));
    }

    private static void awaited() {
        assertFalse(Spin.isLate(LATE, 1));
        assertFalse(Spin.isLate(3 * LATE, 3));
        assertFalse(Spin.isLate(-LATE, 1), "a thread that is new");
    }

    private static void naps() {
        assertFalse(Spin.naps(3));
        assertTrue(Spin.naps(4));
        assertFalse(Spin.naps(Spin.AFTER_NAP));
        assertTrue(Spin.naps(Spin.AFTER_NAP + 1), "the next wake-up");
        assertEquals(50_000, Spin.NAP);
    }

    private static void limited() {
        assertFalse(Spin.isLimited(0));
        assertTrue(Spin.isLimited(1));
        assertFalse(Spin.isLimited(Spin.FOR_EVER));
    }

    private static void standIn() {
        assertTrue(Spin.isAlone(PROCS - 1, PROCS));
        assertTrue(Spin.isAlone(PROCS, PROCS));
        Spin s = new Spin();
        assertFalse(s.inVain);
        s.found = true;
        s.begins();
        assertFalse(s.found);
    }

    private static void noStandIn() {
        Spin s = new Spin();
        s.ends();
        assertTrue(s.inVain);
    }

    private static void ofUse() {
        assertFalse(Spin.isAlone(PROCS - 2, PROCS));
        assertFalse(Spin.isAlone(0, 1), "no P is idle");
        for (boolean found : new boolean[] {false, true}) {
            for (boolean inVain : new boolean[] {false, true}) {
                Spin s = new Spin();
                s.found = found;
                s.inVain = inVain;
                s.finds();
                assertTrue(s.found);
                assertFalse(s.inVain);
            }
        }
    }

    private static void inVain() {
        Spin s = new Spin();
        s.begins();
        s.ends();
        assertTrue(s.inVain);
    }

    private static void notInVain() {
        Spin s = new Spin();
        s.begins();
        s.finds();
        s.ends();
        assertFalse(s.inVain);
    }
}
