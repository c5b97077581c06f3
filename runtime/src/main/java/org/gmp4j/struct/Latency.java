// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * Measures how long goroutines wait for a P. It samples about one in 50 of a G's transitions to _Grunnable: {@code g.runnabletime} gets
 * the time of the transition, and the P that runs the G counts the duration. Reading the clock twice for each transition would take a third
 * of a switch. (Go samples one in 8.)
 *
 * <p>While {@code g.runnabletime} is 0 or less, it counts transitions down to -{@value #PERIOD}, and the next one is sampled. It is in
 * the cache line of the G's status, so a thread that makes the G runnable needs no P. The count begins at different values in new slots and
 * after each sample, so that two goroutines which run alternately are sampled equally often.
 */
public final class Latency {
    private static final int PERIOD = 64;
    private static final LongField RUNNABLETIME = Struct.G.longField("runnabletime");

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
