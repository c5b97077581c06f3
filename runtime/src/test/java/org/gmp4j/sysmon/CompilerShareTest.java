// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.sysmon.CompilerRules.Way;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;

/** {@link CompilerShare} and the rows of the table of {@link CompilerRules}. */
class CompilerShareTest {
    private static final long T = CompilerRules.EVERY;
    private static final long WAITED = T * CompilerRules.WAITED / 10 + 1;
    private static final long BUSY = T * CompilerRules.BUSY / 10 + 1;

    private final CompilerRules rules = new CompilerRules();

    private static CompilerRules.Look look(long longest, long ms) {
        return new CompilerRules.Look(T, longest, ms, T, 0);
    }

    @Test
    void onlyWhereItCanBeUndone() {
        assertEquals(Way.BACK, CompilerRules.way(true, false));
        assertEquals(Way.BACK, CompilerRules.way(true, true));
        assertEquals(Way.RELATIVE, CompilerRules.way(false, true));
        assertEquals(Way.NONE, CompilerRules.way(false, false));
        assertEquals(10, CompilerRules.giveWay(0));
        assertEquals(19, CompilerRules.giveWay(12));
    }

    @Test
    void givenBackWhenCompilersStarveBesideGoroutines() {
        for (int i = 1; i < CompilerRules.STARVED_LOOKS; i++) {
            assertFalse(rules.givesBack(look(WAITED, BUSY), i * T));
        }
        assertTrue(rules.givesBack(look(WAITED, BUSY), CompilerRules.STARVED_LOOKS * T));
    }

    @Test
    void oneLookWithoutHungerBeginsAnew() {
        for (int i = 0; i < 3 * CompilerRules.STARVED_LOOKS; i++) {
            long waited = i % CompilerRules.STARVED_LOOKS == 0 ? WAITED - 1 : WAITED;
            assertFalse(rules.givesBack(look(waited, BUSY), i * T));
        }
    }

    @Test
    void notWhileTheProgramStartsOnThreadsOfItsOwn() {
        for (int i = 0; i < 3 * CompilerRules.STARVED_LOOKS; i++) {
            assertFalse(rules.givesBack(look(T, BUSY - 1), i * T));
        }
    }

    @Test
    void givenBackWhereOthersTakeTheCpus() {
        long ran = T / 2;
        long waited = ran * CompilerRules.CROWDED / 10;
        CompilerRules.Look alone = new CompilerRules.Look(T, 0, 0, ran, waited);
        CompilerRules.Look crowded = new CompilerRules.Look(T, 0, 0, ran, waited + 1);
        for (int i = 0; i < 10; i++) {
            assertFalse(rules.givesBack(alone, i * T));
        }
        for (int i = 1; i < CompilerRules.CROWDED_LOOKS; i++) {
            assertFalse(rules.givesBack(crowded, i * T), "once by chance");
        }
        assertTrue(rules.givesBack(crowded, CompilerRules.CROWDED_LOOKS * T));
    }

    @Test
    void anIdleProcessIsLookedAtEverLessOften() {
        long most = T / CompilerRules.IDLE_SHARE;
        CompilerRules.Look idle = new CompilerRules.Look(T, 0, 0, most - 2, 1);
        CompilerRules.Look busy = new CompilerRules.Look(T, 0, 0, most, 1);
        assertEquals(2 * T, CompilerRules.next(T, idle, 0));
        assertEquals(CompilerRules.IDLE_EVERY, CompilerRules.next(CompilerRules.IDLE_EVERY, idle, 0));
        assertEquals(T, CompilerRules.next(CompilerRules.IDLE_EVERY, busy, 0));
        assertEquals(CompilerRules.LOOK_SHARE * T, CompilerRules.next(T, busy, T), "of thousands of threads");
    }

    @Test
    void givenBackInTheEnd() {
        assertFalse(rules.givesBack(look(0, 0), CompilerRules.LONGEST - 1));
        assertTrue(rules.givesBack(look(0, 0), CompilerRules.LONGEST));
    }

    @Test
    void threadsAndProcessesStartedLaterHaveTheValueOfAll() {
        Result r = new ChildJvm(CompilerShareProgram.class).run();
        assertEquals(0, r.exit(), r::toString);
        assertEquals("compilers 7\nothers 7\nnew thread 7\nnew process 7\n", r.out(), r::toString);
    }
}
