// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rows of the table of {@link Slice}. */
class SliceTest {
    private static final long QUANTUM = 1_000_000;
    private static final long MILLISECOND = 1_000_000;

    @Test
    void rules() {
        RuleTable.of(Slice.class)
                .row("No work waits", () -> assertEquals(10_000, Slice.length(200, 10_000, 0)))
                .row("Gs wait", SliceTest::shortened)
                .row("The goroutine's thread", SliceTest::over)
                .row("The slice is not over", () -> assertTrue(Slice.runsOn(false, false, true)))
                .row("The slice is over, the goroutine was not", () -> assertTrue(Slice.runsOn(true, true, false)))
                .row("The slice is over, and the row above", SliceTest::asked)
                .row("No point stops", SliceTest::unstopped)
                .row("A scan sees", SliceTest::inCall)
                .row("A scan sees such a call", SliceTest::lostInCall)
                .row("A slice that was not timed", SliceTest::assumed)
                .row("A goroutine ran on", SliceTest::timed)
                .end();
    }

    private static void shortened() {
        assertEquals(10_000, Slice.length(200, 10_000, 1));
        assertEquals(2_500, Slice.length(200, 10_000, 4));
        assertEquals(200, Slice.length(200, 10_000, 1_000));
        assertEquals(5, Slice.waiting(3, 8, 4));
        assertEquals(3, Slice.waiting(3, 3, 4));
        assertEquals(11, Slice.waiting(3, 8, 0), "while a scheduler is made");
    }

    private static void asked() {
        assertFalse(Slice.runsOn(true, false, false));
        assertFalse(Slice.runsOn(true, true, true), "it was asked before the new one came");
        assertFalse(Slice.runsOn(true, false, true));
    }

    private static void over() {
        assertFalse(Slice.isOver(QUANTUM - 1, QUANTUM));
        assertTrue(Slice.isOver(QUANTUM, QUANTUM));
    }

    private static void unstopped() {
        assertFalse(Slice.losesP(2 * QUANTUM - 1, QUANTUM));
        assertTrue(Slice.losesP(2 * QUANTUM, QUANTUM));
    }

    private static void inCall() {
        assertTrue(Slice.keepsInCall(false, 1, 9_999_999));
    }

    private static void lostInCall() {
        assertFalse(Slice.keepsInCall(false, 1, 10_000_000));
        assertFalse(Slice.keepsInCall(false, 0, 0));
        assertFalse(Slice.keepsInCall(true, 1, 0));
    }

    private static void assumed() {
        assertEquals(10_000, Slice.assumedAge(20_000, 10 * MILLISECOND));
        assertEquals(250_000, Slice.assumedAge(5 * MILLISECOND, 10 * MILLISECOND));
        assertEquals(50_000, Slice.assumedAge(5 * MILLISECOND, 200_000));
    }

    private static void timed() {
        assertTrue(Slice.isTimed(Slice.TIMED_FOR, 101, MILLISECOND));
        assertFalse(Slice.isTimed(Slice.TIMED_FOR + 1, 101, MILLISECOND));
        assertTrue(Slice.isTimed(Slice.TIMED_FOR + 1, 100, MILLISECOND));
        assertTrue(Slice.isTimed(Slice.TIMED_FOR + 1, 0, 1), "the same slice still");
    }
}
