// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;

import org.gmp4j.policy.DemandRules.Step;
import org.junit.jupiter.api.Test;

/** The rows of the table of {@link DemandRules}. Each case is also a test by itself, with rules of its own. */
class DemandRulesTest {
    private static final long NOW = -5_000_000_000_000L; // As System.nanoTime may be.

    private final DemandRules rules = new DemandRules();

    @Test
    void rules() {
        RuleTable.of(DemandRules.class)
                .row("The compilers have had a CPU", test()::aProgramIsSettledWhenItsCompilersHaveLittleToDo)
                .row("There were {@value #SAMPLES} samples", test()::severalSamplesWithinATime, test()::aMethodIsHotByItsOwnSamples)
                .row("Two searches", test()::callsThatLastAreSeenTwice, test()::aClassOnAStackIsTriedAgainAndThenLeft)
                .row("No long call is in a hot method", test()::longCallsMayStayWhereTheyComputeLittle)
                .row("A search did not reach all stacks.", test()::allStacksAreSearched)
                .row("{@value #PREPARING} ns have passed", test()::aStartDoesNotWaitForTheClassesOfPoints)
                .row("The number of pauses", test()::aFewPausesAtOnceThenFewAMinute)
                .end();
    }

    private static DemandRulesTest test() {
        return new DemandRulesTest();
    }

    @Test
    void aProgramIsSettledWhenItsCompilersHaveLittleToDo() {
        assertTrue(rules.readsCompilers(NOW));
        rules.compilersWanted(7_000_000_000L, NOW);
        assertFalse(rules.settled(), "nothing to compare with");
        assertFalse(rules.readsCompilers(NOW + DemandRules.SETTLING - 1));
        long second = NOW + DemandRules.SETTLING;
        assertTrue(rules.readsCompilers(second));
        long part = DemandRules.SETTLING / DemandRules.COMPILING;
        rules.compilersWanted(7_000_000_000L + part + 1, second);
        assertFalse(rules.settled());
        rules.compilersWanted(7_000_000_000L + 2 * part + 1, second + DemandRules.SETTLING);
        assertTrue(rules.settled());
        rules.compilersWanted(1, second + 2 * DemandRules.SETTLING);
        assertTrue(rules.settled(), "compiler threads have ended");
        rules.compilersWanted(0, second + 3 * DemandRules.SETTLING);
        assertFalse(rules.settled(), "nothing compiles");
    }

    @Test
    void severalSamplesWithinATime() {
        DemandRules.Samples s = new DemandRules.Samples();
        for (int i = 1; i < DemandRules.SAMPLES; i++) {
            assertFalse(s.add("m", NOW + i));
        }
        assertTrue(s.add("m", NOW + DemandRules.WINDOW));
        assertFalse(s.add("m", NOW));
        for (int i = 1; i < DemandRules.SAMPLES; i++) {
            assertFalse(s.add("m", NOW + DemandRules.WINDOW + i), "the first is too long ago");
        }
    }

    /** A sample of a caller that has just continued does not make the caller hot, which would keep the class from its points for good. */
    @Test
    void aMethodIsHotByItsOwnSamples() {
        DemandRules.Samples s = new DemandRules.Samples();
        assertFalse(s.add("caller", NOW));
        for (int i = 1; i < DemandRules.SAMPLES; i++) {
            assertFalse(s.add("m", NOW + i));
        }
        assertEquals(Set.of(), s.hot());
        assertTrue(s.add("m", NOW + DemandRules.SAMPLES));
        assertEquals(Set.of("m"), s.hot());
        for (int i = 2; i < DemandRules.SAMPLES; i++) {
            assertFalse(s.add("caller", NOW + DemandRules.SAMPLES + i));
        }
        assertTrue(s.add("caller", NOW + 2 * DemandRules.SAMPLES));
        assertEquals(Set.of("m", "caller"), s.hot());
    }

    @Test
    void aFewPausesAtOnceThenFewAMinute() {
        for (int i = 0; i < DemandRules.BURST; i++) {
            assertTrue(rules.mayPause(NOW + i), "pause " + i);
            rules.paused(NOW + i);
        }
        long last = NOW + DemandRules.BURST;
        assertFalse(rules.mayPause(last));
        assertFalse(rules.mayPause(NOW + DemandRules.EVERY - 1));
        assertFalse(rules.mayPause(rules.nextPause() - 1));
        assertTrue(rules.mayPause(rules.nextPause()), "what waits for it is granted then");
        assertTrue(rules.mayPause(last + DemandRules.EVERY));
        rules.paused(last + DemandRules.EVERY);
        assertFalse(rules.mayPause(last + DemandRules.EVERY + 1));
        long later = last + 100 * DemandRules.EVERY;
        for (int i = 0; i < DemandRules.BURST; i++) {
            assertTrue(rules.mayPause(later));
            rules.paused(later);
        }
        assertFalse(rules.mayPause(later), "no more than a burst is saved up");
    }

    @Test
    void callsThatLastAreSeenTwice() {
        assertEquals(Step.GIVE, DemandRules.after(true, false, true, false, true));
        assertEquals(Step.SEARCH, DemandRules.after(true, false, false, false, false), "they may come and go");
        assertEquals(Step.SEARCH, DemandRules.after(true, false, false, true, true));
        assertEquals(Step.GIVE, DemandRules.after(true, true, true, false, true));
        assertEquals(Step.LATER, DemandRules.after(true, true, false, true, true));
    }

    @Test
    void allStacksAreSearched() {
        for (boolean second : new boolean[] {false, true}) {
            for (boolean none : new boolean[] {false, true}) {
                assertEquals(Step.LATER, DemandRules.after(false, second, none, false, true), "what it did not reach may be long");
                assertEquals(Step.LATER, DemandRules.after(false, second, none, true, false));
            }
        }
    }

    @Test
    void aStartDoesNotWaitForTheClassesOfPoints() {
        for (long start : new long[] {NOW, 0, Long.MAX_VALUE - 1}) {
            assertEquals(10_000_000_000L, DemandRules.untilPreparing(start, start));
            assertEquals(1, DemandRules.untilPreparing(start + 9_999_999_999L, start));
            assertEquals(0, DemandRules.untilPreparing(start + 10_000_000_000L, start));
        }
    }

    @Test
    void longCallsMayStayWhereTheyComputeLittle() {
        assertEquals(Step.PROFILE, DemandRules.after(true, true, false, false, false));
        assertEquals(Step.GIVE, DemandRules.after(true, true, false, false, true));
        assertTrue(DemandRules.mayStay(0, 0), "they use no CPU time");
        assertTrue(DemandRules.mayStay(DemandRules.PROFILE, DemandRules.PROFILE / DemandRules.OWN));
        assertFalse(DemandRules.mayStay(DemandRules.PROFILE, DemandRules.PROFILE / DemandRules.OWN + 1));
        assertFalse(DemandRules.mayStay(DemandRules.OWN - 1, 1));
    }

    @Test
    void aClassOnAStackIsTriedAgainAndThenLeft() {
        assertEquals(DemandRules.FIRST_RETRY, DemandRules.retryAfter(0));
        assertEquals(2 * DemandRules.FIRST_RETRY, DemandRules.retryAfter(1));
        assertEquals(DemandRules.LAST_RETRY, DemandRules.retryAfter(DemandRules.RETRIES - 1));
        assertEquals(-1, DemandRules.retryAfter(DemandRules.RETRIES));
    }
}
