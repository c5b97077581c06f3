// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The rows of the table of {@link PollerAbsence}. Each case is also a test by itself, with an average of its own. */
final class PollerAbsenceTest {
    private final PollerAbsence absence = new PollerAbsence();

    @Test
    void rules() {
        RuleTable.of(PollerAbsence.class)
                .row("On average, Ms that left were back", test()::shortAbsences, test()::aSingleLongOne, test()::shortOnesAgain)
                .row("On average, Ms that left stayed away", test()::longAbsences)
                .end();
    }

    private static PollerAbsenceTest test() {
        return new PollerAbsenceTest();
    }

    @Test
    void shortAbsences() {
        add(1_000, PollerAbsence.SHORT);
        assertFalse(absence.isLong());
    }

    @Test
    void longAbsences() {
        add(1_000, PollerAbsence.SHORT + PollerAbsence.MEMORY);
        assertTrue(absence.isLong());
    }

    /** A single long one among short ones changes nothing, however long it is; a second one soon after it does. */
    @Test
    void aSingleLongOne() {
        add(100, 40_000);
        add(1, Long.MAX_VALUE);
        assertFalse(absence.isLong());
        add(3, 40_000);
        add(1, 10_000_000);
        assertTrue(absence.isLong());
    }

    /** A few times as many short ones as the average covers outweigh any number of long ones. */
    @Test
    void shortOnesAgain() {
        add(1_000, PollerAbsence.LONGEST);
        assertTrue(absence.isLong());
        add(4 * PollerAbsence.MEMORY, 20_000);
        assertFalse(absence.isLong());
    }

    private void add(int times, long nanos) {
        for (int i = 0; i < times; i++) {
            absence.add(nanos);
        }
    }
}
