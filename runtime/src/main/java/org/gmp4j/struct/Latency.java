// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.g;

/**
 * How long goroutines wait for a P: of one in some {@value #PERIOD} times that a G becomes runnable the moment is noted in
 * {@code g.runnabletime}, and counted by the P that runs it. Two readings of the clock each time would take a third of a
 * switch. (Go times one in 8.)
 *
 * <p>Each G counts for itself, so who makes it runnable needs no P; the word stands in the line that its status is in. Not
 * above 0 it is minus the number of times since, from a random beginning: of two goroutines that take turns neither is timed
 * more often than the other.
 */
public final class Latency {
    private static final int PERIOD = 64;
    private static final LongField RUNNABLETIME = Mem.longField(g.layout(), "runnabletime");

    private Latency() {
    }

    /** A new slot: not all of those that are made at once are timed at once. */
    static void fresh(long gp) {
        RUNNABLETIME.set(gp, -(G.index(gp) & PERIOD - 1));
    }

    /** Whoever has the G in his hands is about to make it runnable. */
    static void runnable(long gp) {
        long t = RUNNABLETIME.get(gp);
        RUNNABLETIME.set(gp, t > -PERIOD ? t - 1 : now());
    }

    /** The G runs, on {@code pp}, which is the caller's. */
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

    /** Above 0. */
    private static long now() {
        return System.nanoTime() & Long.MAX_VALUE | 1;
    }
}
