// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rows of the table of {@link Steal}. */
class StealTest {
    @Test
    void rules() {
        RuleTable.of(Steal.class)
                .row("The order is uniform", () -> walks(false, false, 1, Steal.UNIFORM, Steal.UNIFORM))
                .row("The order is nearest first.", StealTest::nearest)
                .row("The order is nearest first, and the number", StealTest::uniformNowAndThen)
                .row("The order is two at random.", () -> assertEquals(Steal.OF_TWO, Steal.walk(false, true, 1, 0)))
                .row("The order is two at random, and the walk", () -> walks(false, true, 1, Steal.OF_TWO, Steal.UNIFORM))
                .end();
    }

    /** Checks the kinds of the walks of a search: of all but the last, and of the last. */
    private static void walks(boolean nearest, boolean two, int search, int first, int last) {
        for (int i = 0; i < 3; i++) {
            assertEquals(first, Steal.walk(nearest, two, search, i));
        }
        assertEquals(last, Steal.walk(nearest, two, search, 3));
        assertTrue(Steal.isLast(3));
        assertEquals(4, Steal.WALKS);
    }

    private static void nearest() {
        for (int search = 1; search < 16; search++) {
            walks(true, false, search, Steal.BY_DISTANCE, Steal.BY_DISTANCE);
        }
    }

    private static void uniformNowAndThen() {
        walks(true, false, 16, Steal.UNIFORM, Steal.UNIFORM);
        walks(true, false, 17, Steal.BY_DISTANCE, Steal.BY_DISTANCE);
        walks(true, false, 32, Steal.UNIFORM, Steal.UNIFORM);
    }
}
