// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.policy.CompilerRules.Way;
import org.junit.jupiter.api.Test;

/** The rows of the table of {@link CompilerRules}. Each case is also a test by itself, with rules of its own. */
class CompilerRulesTest {
    private static final long T = CompilerRules.EVERY;
    private static final long WAITED = T * CompilerRules.WAITED / 10 + 1;
    private static final int PROCS = 2;
    private static final long BUSY = PROCS * T * CompilerRules.BUSY / 10 + 1;

    private final CompilerRules rules = new CompilerRules();

    private static CompilerRules.Look look(long longest, long wanted) {
        return new CompilerRules.Look(T, longest, wanted, T, PROCS, PROCS);
    }

    @Test
    void rules() {
        RuleTable.of(CompilerRules.class)
                .row("The process may use several CPUs", test()::unaskedOnOneCpuAlone)
                .row("There is no C1", test()::onlyBesideC1)
                .row("The process may lower nice values again", test()::givesWayWhereNiceValuesGoDownAgain)
                .row("The process may not lower nice values again, but is alone", test()::givesWayInACgroupOfItsOwn)
                .row("Neither of the two rows above", test()::onlyWhereItCanBeUndone)
                .row("For {@value #STARVED} ns", test()::givenBackWhenC2StarvesBesideBusyPs, test()::oneLookWithoutHungerBeginsAnew,
                        test()::notWhileAPIsIdle)
                .row("For {@value #CROWDED} ns", test()::givenBackWhereOthersTakeTheCpus)
                .row("C2 has waited for a CPU for {@value #IN_ALL} ns", test()::givenBackWhenC2HasWaitedForLongInAll)
                .row("{@value #LONGEST} ns have passed", test()::givenBackInTheEnd)
                .end();
    }

    private static CompilerRulesTest test() {
        return new CompilerRulesTest();
    }

    @Test
    void givesWayWhereNiceValuesGoDownAgain() {
        for (boolean relative : new boolean[]{false, true}) {
            assertEquals(Way.BACK, CompilerRules.way(true, relative, false));
            assertEquals(Way.BACK, CompilerRules.way(true, relative, true));
        }
        assertEquals(10, CompilerRules.giveWay(0));
        assertEquals(19, CompilerRules.giveWay(12));
    }

    @Test
    void givesWayInACgroupOfItsOwn() {
        assertEquals(Way.RELATIVE, CompilerRules.way(false, true, true));
    }

    @Test
    void onlyWhereItCanBeUndone() {
        assertEquals(Way.NONE, CompilerRules.way(false, true, false));
        assertEquals(Way.NONE, CompilerRules.way(false, false, true));
        assertEquals(Way.NONE, CompilerRules.way(false, false, false));
    }

    @Test
    void unaskedOnOneCpuAlone() {
        assertTrue(CompilerRules.isWanted(false, 1));
        assertFalse(CompilerRules.isWanted(false, 2));
        assertTrue(CompilerRules.isWanted(true, 2));
    }

    @Test
    void onlyBesideC1() {
        assertTrue(CompilerRules.canGiveWay(2, 1));
        assertFalse(CompilerRules.canGiveWay(2, 2), "no C1");
        assertFalse(CompilerRules.canGiveWay(2, 0), "no C2");
    }

    @Test
    void givenBackWhenC2StarvesBesideBusyPs() {
        for (long t = T; t < CompilerRules.STARVED; t += T) {
            assertFalse(rules.givesBack(look(WAITED, BUSY), t));
        }
        assertTrue(rules.givesBack(look(WAITED, BUSY), CompilerRules.STARVED));
    }

    @Test
    void oneLookWithoutHungerBeginsAnew() {
        long looks = CompilerRules.STARVED / T;
        for (int i = 0; i < 3 * looks; i++) {
            assertFalse(rules.givesBack(look(i % looks == 0 ? WAITED - 1 : WAITED, BUSY), i * T));
        }
    }

    @Test
    void notWhileAPIsIdle() {
        for (long t = 0; t < 3 * CompilerRules.STARVED; t += T) {
            assertFalse(rules.givesBack(look(T, BUSY - 1), t));
        }
    }

    @Test
    void givenBackWhereOthersTakeTheCpus() {
        CompilerRules.Look half = new CompilerRules.Look(T, WAITED, 0, T, 2, PROCS);
        CompilerRules.Look less = new CompilerRules.Look(T, WAITED, 0, T - 1, 2, PROCS);
        CompilerRules.Look idle = new CompilerRules.Look(T, WAITED - 1, 0, 0, 2, PROCS);
        for (int i = 0; i < 10; i++) {
            assertFalse(rules.givesBack(half, i * T));
            assertFalse(rules.givesBack(idle, i * T));
        }
        for (long t = T; t < CompilerRules.CROWDED; t += T) {
            assertFalse(rules.givesBack(less, t), "once by chance");
        }
        assertTrue(rules.givesBack(less, CompilerRules.CROWDED));
    }

    @Test
    void givenBackWhenC2HasWaitedForLongInAll() {
        for (long all = T - 1; all < CompilerRules.IN_ALL; all += T - 1) {
            assertFalse(rules.givesBack(look(T - 1, 0), 0));
            assertFalse(rules.givesBack(look(0, BUSY), 0), "its waits need not follow each other");
        }
        assertTrue(rules.givesBack(look(T - 1, 0), 0));
    }

    @Test
    void looksOfManyThreadsAreRare() {
        assertEquals(T, CompilerRules.sleep(T / CompilerRules.LOOKING, false));
        assertEquals(CompilerRules.LOOKING * T, CompilerRules.sleep(T, false));
    }

    @Test
    void anIdleProcessIsSeldomLookedAt() {
        assertTrue(CompilerRules.isIdle(T / CompilerRules.IDLE - 1, T));
        assertFalse(CompilerRules.isIdle(T / CompilerRules.IDLE, T));
        assertEquals(CompilerRules.SELDOM, CompilerRules.sleep(T, true));
        assertFalse(rules.givesBack(CompilerRules.NOTHING, CompilerRules.LONGEST - 1));
        assertTrue(rules.givesBack(CompilerRules.NOTHING, CompilerRules.LONGEST));
    }

    @Test
    void givenBackInTheEnd() {
        assertFalse(rules.givesBack(look(0, 0), CompilerRules.LONGEST - 1));
        assertTrue(rules.givesBack(look(0, 0), CompilerRules.LONGEST));
    }
}
