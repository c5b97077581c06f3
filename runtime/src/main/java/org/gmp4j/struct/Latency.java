// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.g;

/**
 * Measures how long goroutines wait for a P. A G becomes runnable again and again. About once in {@value #PERIOD} times the time is written
 * to {@code g.runnabletime}, and the P that runs the G counts the duration. Reading the clock twice each time would take a third of a
 * switch. (Go measures one time in 8.)
 *
 * <p>Each G has a count of its own, in the cache line of its status, so a thread that makes it runnable needs no P. A value of 0 or less is
 * minus the number of times since the last measurement. Slots begin at different counts, so that two goroutines which run alternately are
 * measured equally often.
 */
public final class Latency {
    private static final int PERIOD = 64;
    private static final LongField RUNNABLETIME = Mem.longField(g.layout(), "runnabletime");

    private Latency() {
    }

    /** Sets the count of a new slot. Slots that are made together get different counts. */
    static void fresh(long gp) {
        RUNNABLETIME.set(gp, -(G.INDEX.get(gp) & PERIOD - 1));
    }

    /** Counts a G that the caller owns and is about to make runnable. */
    static void runnable(long gp) {
        long t = RUNNABLETIME.get(gp);
        RUNNABLETIME.set(gp, t > -PERIOD ? t - 1 : now());
    }

    /** Counts the wait of a G that runs now on {@code pp}, which the caller holds. */
    public static void runs(long gp, long pp) {
        if (RUNNABLETIME.get(gp) > 0) {
            count(gp, pp);
        }
    }

    private static void count(long gp, long pp) {
        long now = now();
        PStat.LATENCY.add(pp, now - RUNNABLETIME.get(gp));
        RUNNABLETIME.set(gp, -(now >>> 4 & PERIOD / 2 - 1)); // The clock's lower digits are as good as random numbers.
    }

    /** Returns the nanoTime as a number greater than 0. */
    private static long now() {
        return System.nanoTime() & Long.MAX_VALUE | 1;
    }
}
