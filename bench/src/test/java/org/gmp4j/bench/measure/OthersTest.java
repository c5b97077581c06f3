// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.bench.measure.Others.Reading;
import org.gmp4j.bench.measure.Others.Summary;
import org.junit.jupiter.api.Test;

class OthersTest {
    private double seconds;
    private double busy;
    private double own;

    /** On two CPUs. */
    private Others others(int most) {
        return new Others(most, 2, () -> new Reading(seconds, busy, own));
    }

    /** A run of so many seconds in which this process had one CPU, and others had so many percent of both. */
    private void run(double length, double percent) {
        seconds += length;
        own += length;
        busy += length + length * 2 * percent / 100;
    }

    @Test
    void aQuietRunIsNotRepeated() {
        Others o = others(9);
        o.begin();
        run(1, 14);
        assertFalse(o.again());
        o.begin();
        run(2, 3);
        assertFalse(o.again());
        assertEquals(0, o.summary().repeated());
        assertEquals(14, o.summary().percent(), 1e-6);
        assertEquals("had at most 14 % of the CPUs in a run", o.summary().text());
    }

    @Test
    void theLessDisturbedCounts() {
        Others o = others(9);
        o.begin();
        run(1, 40);
        assertTrue(o.again());
        run(1, 10);
        assertTrue(o.better());
        o.begin();
        run(1, 20);
        assertTrue(o.again());
        run(1, 50);
        assertFalse(o.better());
        assertEquals(2, o.summary().repeated());
        assertEquals(20, o.summary().percent(), 1e-6);
        assertEquals("had at most 20 % of the CPUs in a run; 2 runs were disturbed and repeated, which is much: measure on a quiet machine",
                o.summary().text());
    }

    @Test
    void noMoreThanSoMany() {
        Others o = others(1);
        o.begin();
        run(1, 40);
        assertTrue(o.again());
        run(1, 0);
        assertTrue(o.better());
        o.begin();
        run(1, 40);
        assertFalse(o.again());
        Summary s = o.summary();
        assertEquals("{most_percent=40.0, repeated=1}", new Summary(Math.round(s.percent()), s.repeated()).json().toString());
    }

    @Test
    void ofAShortRunNothingIsSaid() {
        Others o = others(1);
        o.begin();
        run(0.1, 90);
        assertFalse(o.again());
        assertEquals(new Summary(0, 0), o.summary());
    }

    /** What this process itself does is not the others'. */
    @Test
    void theKernelsFigures() throws InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        Others o = new Others(1);
        o.begin();
        Thread t = new Thread(() -> {
            while (!over.get()) {
                Thread.onSpinWait();
            }
        });
        t.start();
        TimeUnit.MILLISECONDS.sleep(300);
        over.set(true);
        t.join();
        boolean _ = o.again();
        double percent = o.summary().percent();
        assertTrue(percent >= 0 && percent <= 100, () -> "" + percent);
    }
}
