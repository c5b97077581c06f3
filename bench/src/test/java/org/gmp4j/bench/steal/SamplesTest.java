// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.SpinPolicy;
import org.junit.jupiter.api.Test;

class SamplesTest {
    private static final long SECOND = 1_000_000_000;
    private static final Run WAKE = new Run(Run.Kind.WAKE, SpinPolicy.go(), 20_000, 1, true);

    @Test
    void stopsAtTheCap() {
        Samples s = new Samples(1, 3, 0, 100 * SECOND);
        long now = System.nanoTime();
        assertTrue(s.add(5, now));
        assertTrue(s.add(6, now));
        assertFalse(s.add(7, now));
        Result r = s.result(WAKE, null);
        assertEquals(3, r.samples());
        assertEquals(6, r.at(50));
        assertEquals(7, r.max());
    }

    @Test
    void dropsWhatComesBeforeItHasSettledAndStopsInTime() {
        long before = System.nanoTime();
        Samples s = new Samples(1, 100, SECOND, 2 * SECOND);
        assertTrue(s.add(5, before));
        assertTrue(s.add(5, before + 3 * SECOND / 2));
        assertFalse(s.add(5, before + 5 * SECOND));
        assertEquals(2, s.result(WAKE, null).samples());
    }

    @Test
    void takesOneSampleHoweverLateItIs() {
        Samples s = new Samples(1, 100, 0, 0);
        assertTrue(s.wantsMore(System.nanoTime() + SECOND));
        assertFalse(s.add(5, System.nanoTime() + SECOND));
    }

    @Test
    void givesUpWhenNoneIsGood() {
        Samples s = new Samples(1, 100, 0, 100 * SECOND);
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> {
            while (s.discard(System.nanoTime(), "all bad")) {
                continue;
            }
        });
        assertTrue(e.getMessage().contains("all bad"));
    }

    @Test
    void meansOfRoundsKeepFractions() {
        Samples s = new Samples(16, 100, 0, SECOND);
        s.add(40, System.nanoTime());
        assertEquals(2.5, s.result(WAKE, null).at(50));
    }

    @Test
    void impossibleDurationsAreTakenAsTheNearestPossible() {
        Samples s = new Samples(1, 100, 0, SECOND);
        s.add(-7, System.nanoTime());
        s.add(Long.MAX_VALUE, System.nanoTime());
        Result r = s.result(WAKE, null);
        assertEquals(0, r.at(50));
        assertTrue(r.max() >= 100 * SECOND);
    }

    @Test
    void correctionAddsWhatAStallHid() {
        Samples s = new Samples(1, 1000, 0, 100 * SECOND);
        for (int i = 0; i < 999; i++) {
            s.add(1_000, System.nanoTime());
        }
        s.add(21_000_000, System.nanoTime()); // About a thousand turns of 21 us.
        Result r = s.result(WAKE, null);
        assertTrue(r.correctable());
        assertEquals(21_000, r.interval(), 20);
        assertEquals(1_000, r.at(99), 1);
        assertEquals(10_500_000, r.corrected().at(75), 500_000);
        assertFalse(new Run(Run.Kind.STEAL, null, 0, 1, true).gapNanos() > 0);
    }

    @Test
    void tenBeyondAPercentileAreEnough() {
        Samples s = new Samples(1, 2000, 0, 100 * SECOND);
        for (int i = 0; i < 1000; i++) {
            s.add(i, System.nanoTime());
        }
        Result r = s.result(WAKE, null);
        assertTrue(r.supports(50));
        assertTrue(r.supports(99));
        assertFalse(r.supports(99.9));
    }
}
