// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rows of the table of {@link Turns}. */
class TurnsTest {
    private static final long SLICE = 1_000_000;

    @Test
    void rules() {
        RuleTable.of(Turns.class)
                .row("The P begins a slice whose number is a multiple of {@value #GLOBAL", TurnsTest::byNumber)
                .row("Sysmon has seen", TurnsTest::passedOver)
                .row("The P begins a slice whose number is a multiple of {@value #ARRIVED", TurnsTest::arrived)
                .row("Gs of runnext have inherited", TurnsTest::inherited)
                .row("None of the above", () -> assertTrue(Turns.untilGlobal(7, 0) * Turns.untilArrived(7) != 0))
                .row("The P has no Gs, the global queue has", TurnsTest::poll)
                .row("The P has no Gs.", () -> assertTrue(Turns.untilGlobal(7, 0) * Turns.untilArrived(7) != 0))
                .row("A thread without a P wakes a G that waits", TurnsTest::ahead)
                .end();
    }

    private static void byNumber() {
        for (int slice = -183; slice <= 183; slice++) {
            boolean turn = Integer.toUnsignedLong(slice) % 61 == 0;
            assertEquals(turn, Turns.untilGlobal(slice, 0) == 0, "slice " + slice);
        }
    }

    private static void passedOver() {
        assertEquals(1, Turns.due(8 * SLICE, SLICE));
        assertEquals(0, Turns.due(8 * SLICE - 1, SLICE));
        assertEquals(0, Turns.untilGlobal(7, 1));
    }

    private static void arrived() {
        for (int slice = -8; slice <= 8; slice++) {
            assertEquals(Integer.toUnsignedLong(slice) % 5 == 0, Turns.untilArrived(slice) == 0, "slice " + slice);
        }
        for (int first = 0; first < 5; first++) {
            int turns = 0;
            for (int i = 0; i < 5; i++) {
                turns += Turns.untilArrived(first + 2 * i) == 0 ? 1 : 0; // The number moves by two where a goroutine is preempted.
            }
            assertEquals(1, turns);
        }
    }

    private static void inherited() {
        for (int times = 0; times <= 4; times++) {
            assertEquals(times >= 3, Turns.passesOverRunnext(times), times + " times");
        }
    }

    private static void poll() {
        assertTrue(Turns.isPollDue(50_000));
        assertFalse(Turns.isPollDue(49_999));
    }

    private static void ahead() {
        assertTrue(Turns.goesAhead(0));
        assertTrue(Turns.goesAhead(2));
        assertFalse(Turns.goesAhead(3));
    }
}
