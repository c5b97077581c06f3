// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.BitSet;

import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.measure.Others.Reading;
import org.gmp4j.bench.measure.Others.Summary;
import org.junit.jupiter.api.Test;

class OthersTest {
    private static final double BURNT = 0.3;
    private static final double STEP = 0.01;

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
        assertEquals("had at most 20 % of the CPUs in a run, which is much: measure on a quiet machine; 2 runs were disturbed and repeated",
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
        assertEquals(new Summary(Double.NaN, 0), o.summary());
        assertEquals("had a share of the CPUs that is not known: each run was too short, or the kernel does not tell", o.summary().text());
        assertEquals("{most_percent=NaN, repeated=0}", o.summary().json().toString());
        o.begin();
        run(1, 2);
        assertFalse(o.again());
        assertEquals(2, o.summary().percent(), 1e-6);
    }

    /** Where the kernel does not tell when a run begins or ends, that is no share of 0, and none since the machine has started. */
    @Test
    void ofARunThatTheKernelDoesNotTellOfNothingIsSaid() {
        Others o = others(1);
        seconds = Double.NaN;
        o.begin();
        seconds = 1_000;
        busy = 2_000;
        assertFalse(o.again());
        o.begin();
        seconds = Double.NaN;
        assertFalse(o.again());
        seconds = 2_000;
        o.begin();
        run(1, 40);
        assertTrue(o.again());
        seconds = Double.NaN;
        assertFalse(o.better());
        assertEquals(40, o.summary().percent(), 1e-6);
    }

    /** What this process itself does is its own, and the kernel has it among all. */
    @Test
    void theKernelsFigures() {
        BitSet cpus = Topology.system().allowed();
        Reading before = Others.read(cpus);
        long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpu < BURNT * 1e9) {
            Thread.onSpinWait();
        }
        Reading after = Others.read(cpus);
        double own = after.own() - before.own();
        double steps = STEP * (2 + cpus.cardinality()); // The kernel counts in them.
        assertTrue(own >= BURNT - steps, () -> before + " " + after);
        assertTrue(after.busy() - before.busy() >= own - steps, () -> before + " " + after);
        assertTrue(after.seconds() - before.seconds() >= BURNT, () -> before + " " + after);
    }
}
