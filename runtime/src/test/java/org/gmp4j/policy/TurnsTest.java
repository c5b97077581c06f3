// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rows of the table of {@link Turns}. */
class TurnsTest {
    private static final long NOW = -5_000_000_000_000L; // As System.nanoTime may be.
    private static final long LEAST = 1_000_000;
    private static final long PART = LEAST / 4;
    private static final int SLICE = 7;
    private static final long SOME = 1L << 40;

    @Test
    void rules() {
        RuleTable.of(Turns.class)
                .row("The P begins a slice whose number", TurnsTest::byNumber)
                .row("Sysmon has seen", TurnsTest::passedOver)
                .row("The same for {@value #POLLED", TurnsTest::polledPassedOver)
                .row("The P begins a slice with such a number", TurnsTest::alternates)
                .row("The P makes a switch", TurnsTest::ahead)
                .row("The same, but its other Gs", TurnsTest::notAgainAtOnce)
                .row("A take by that rule", TurnsTest::sliceLasts)
                .row("The same, but the slice", TurnsTest::sliceIsNew)
                .row("The P has no Gs", TurnsTest::poll)
                .row("A P takes from", TurnsTest::share)
                .end();
    }

    private static void byNumber() {
        for (int slice = -183; slice <= 183; slice++) {
            boolean turn = Integer.toUnsignedLong(slice) % 61 == 0;
            assertEquals(turn, Turns.untilGlobal(slice, Turns.NOT_DUE) == 0, "slice " + slice);
        }
    }

    private static void passedOver() {
        assertEquals(Turns.DUE, Turns.due(8 * LEAST, LEAST, false));
        assertEquals(Turns.DUE, Turns.due(8 * LEAST, LEAST, true));
        assertEquals(Turns.NOT_DUE, Turns.due(8 * LEAST - 1, LEAST, false));
        assertEquals(0, Turns.untilGlobal(SLICE, Turns.DUE));
        assertFalse(Turns.isOfPolled(Turns.DUE, SLICE));
    }

    private static void polledPassedOver() {
        assertEquals(Turns.POLLED_DUE, Turns.due(4 * LEAST, LEAST, true));
        assertEquals(Turns.NOT_DUE, Turns.due(4 * LEAST - 1, LEAST, true));
        assertEquals(Turns.NOT_DUE, Turns.due(4 * LEAST, LEAST, false));
        assertEquals(0, Turns.untilGlobal(SLICE, Turns.POLLED_DUE));
        assertTrue(Turns.isOfPolled(Turns.POLLED_DUE, SLICE + 1));
    }

    private static void alternates() {
        assertTrue(Turns.isOfPolled(Turns.NOT_DUE, 61));
        assertFalse(Turns.isOfPolled(Turns.NOT_DUE, 122));
    }

    /** Returns the state of a P that has just begun to measure, in slice number {@value #SLICE}. */
    private static Turns measuring() {
        Turns t = new Turns(NOW);
        assertTrue(t.isAheadAgain(0, SOME, SLICE, NOW));
        assertFalse(t.isAheadAgain(LEAST, SOME + 1_024, SLICE, NOW + SOME), "the one that was taken may have run until now");
        return t;
    }

    private static void ahead() {
        assertEquals(0, Turns.untilAhead(SOME));
        assertEquals(0, Turns.untilAhead(SOME + 1_024));
        for (int i = 1; i < 1_024; i++) {
            assertTrue(Turns.untilAhead(SOME + i) != 0);
        }
        assertTrue(measuring().isAheadAgain(LEAST, SOME + 2_048, SLICE, NOW + SOME + PART));
        assertTrue(new Turns(NOW).isAheadAgain(LEAST, 2_048, SLICE, NOW + PART), "the first");
        assertEquals(64, Turns.MOST_PASSED);
    }

    private static void notAgainAtOnce() {
        Turns t = measuring();
        assertFalse(t.isAheadAgain(LEAST, SOME + 2_048, SLICE, NOW + SOME + PART - 1));
        assertTrue(t.isAheadAgain(LEAST, SOME + 3_072, SLICE, NOW + SOME + PART));
        assertFalse(t.isAheadAgain(LEAST, SOME + 4_096, SLICE, NOW + 2 * SOME), "it measures again");
        assertFalse(t.isAheadAgain(LEAST, SOME + 5_120, SLICE, NOW + 2 * SOME + 1));
    }

    private static void sliceLasts() {
        assertTrue(measuring().sliceLasts(SLICE));
    }

    private static void sliceIsNew() {
        Turns t = measuring();
        assertFalse(t.sliceLasts(SLICE + 1));
        assertTrue(t.isAheadAgain(LEAST, SOME + 2_048, SLICE + 1, NOW + 2 * SOME));
        assertFalse(t.isAheadAgain(LEAST, SOME + 3_072, SLICE + 1, NOW + 2 * SOME));
        assertTrue(t.sliceLasts(SLICE + 1));
    }

    private static void poll() {
        assertTrue(Turns.isPollDue(50_000));
        assertFalse(Turns.isPollDue(49_999));
    }

    private static void share() {
        assertEquals(1, Turns.share(0, 2));
        assertEquals(4, Turns.share(7, 2));
        assertEquals(4, Turns.most(100, 256), "a take is small");
        assertEquals(3, Turns.most(3, 256));
        assertEquals(2, Turns.most(100, 1), "one to run");
        assertEquals(1, Turns.most(100, 0));
    }
}
