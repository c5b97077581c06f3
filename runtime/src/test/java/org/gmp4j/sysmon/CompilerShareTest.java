// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;

import org.gmp4j.sysmon.CompilerRules.Way;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;

/** {@link CompilerShare} and the rows of the table of {@link CompilerRules}. */
class CompilerShareTest {
    private static final long T = CompilerRules.EVERY;
    private static final long WAITED = T * CompilerRules.WAITED / 10 + 1;
    private static final int PROCS = 2;
    private static final long BUSY = PROCS * T * CompilerRules.BUSY / 10 + 1;

    private final CompilerRules rules = new CompilerRules();

    private static CompilerRules.Look look(long longest, long wanted) {
        return new CompilerRules.Look(T, longest, wanted, T, PROCS, PROCS);
    }

    @Test
    void onlyWhereItCanBeUndone() {
        for (boolean relative : new boolean[]{false, true}) {
            assertEquals(Way.BACK, CompilerRules.way(true, relative, false));
            assertEquals(Way.BACK, CompilerRules.way(true, relative, true));
            assertEquals(relative ? Way.RELATIVE : Way.NONE, CompilerRules.way(false, relative, true));
            assertEquals(Way.NONE, CompilerRules.way(false, relative, false));
        }
        assertEquals(10, CompilerRules.giveWay(0));
        assertEquals(19, CompilerRules.giveWay(12));
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

    /** What it had is gone with it: the others' is not less for that. */
    @Test
    void anMThatEndsTakesNothingFromTheOthers() {
        CompilerShare.Had before = new CompilerShare.Had(Map.of(7, 1L), Map.of(1, T, 2, 9 * T), 10 * T);
        CompilerShare.Had now = new CompilerShare.Had(Map.of(7, 1L + WAITED), Map.of(1, T + BUSY, 2, 0L), 10 * T + BUSY);
        CompilerRules.Look l = now.since(before, T, PROCS);
        assertEquals(BUSY, l.wanted());
        assertEquals(WAITED, l.waited());
        assertEquals(BUSY, l.process());
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
    void givenBackInTheEnd() {
        assertFalse(rules.givesBack(look(0, 0), CompilerRules.LONGEST - 1));
        assertTrue(rules.givesBack(look(0, 0), CompilerRules.LONGEST));
    }

    @Test
    void threadsAndProcessesStartedLaterHaveTheValueOfAll() {
        Result r = new ChildJvm(CompilerShareProgram.class).with("-XX:TieredStopAtLevel=4").run();
        assertEquals(0, r.exit(), r::toString);
        assertEquals("optimizing 7\nothers 7\nnew thread 7\nnew process 7\n", r.out(), r::toString);
    }
}
