// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.g;

/**
 * How long goroutines wait for a P. About one in {@value #PERIOD} times that a G becomes runnable, the time is written to
 * {@code g.runnabletime}, and the P that runs it counts how long that took. Two readings of the clock each time would take a third
 * of a switch. (Go times one in 8.)
 *
 * <p>Each G counts for itself, so whoever makes it runnable needs no P; the word is in the cache line of the status. A value that
 * is not above 0 is minus the number of times since the last timed one. Slots begin at different counts: of two goroutines that
 * take turns neither is timed more often than the other.
 */
public final class Latency {
    private static final int PERIOD = 64;
    private static final LongField RUNNABLETIME = Mem.longField(g.layout(), "runnabletime");

    private Latency() {
    }

    /** A new slot: not all of those that are made at once are timed at once. */
    static void fresh(long gp) {
        RUNNABLETIME.set(gp, -(G.INDEX.get(gp) & PERIOD - 1));
    }

    /** The caller owns the G and is about to make it runnable. */
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
