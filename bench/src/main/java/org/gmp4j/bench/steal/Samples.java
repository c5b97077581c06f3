// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import org.HdrHistogram.Histogram;

/**
 * The samples of one run, and when it has enough. What comes in before the run has settled is dropped. One thread
 * writes; recording allocates nothing.
 */
final class Samples {
    /** Longer than any wait in here can last. */
    private static final long MOST = 100_000_000_000L;

    private static final int DIGITS = 3;
    private static final long HOPELESS = 1_000;

    private final Histogram histogram;
    private final int operations;
    private final long from;
    private final long deadline;
    private final long cap;
    private long discarded;

    /**
     * Makes an empty run that starts now.
     *
     * @param operations how many operations the time of one sample is divided by
     * @param cap most samples
     * @param settleNanos how long to drop what comes in
     * @param nanos how long to take samples, the above included; one is taken in any case
     */
    Samples(int operations, long cap, long settleNanos, long nanos) {
        this.operations = operations;
        this.cap = cap;
        histogram = new Histogram(1, MOST * operations, DIGITS);
        from = System.nanoTime() + settleNanos;
        deadline = from + nanos - settleNanos;
    }

    /** Takes samples that are not used, for a time. */
    static Samples warmUp(long nanos) {
        return new Samples(1, Long.MAX_VALUE, 0, nanos);
    }

    /**
     * Takes a sample.
     *
     * @param nanos what it measured; taken as 0 when negative (a clock's cost was subtracted)
     * @param now nanoTime
     * @return whether the run goes on
     */
    boolean add(long nanos, long now) {
        if (now - from >= 0) {
            histogram.recordValue(Math.clamp(nanos, 0, MOST * operations));
        }
        return wantsMore(now);
    }

    /**
     * Counts a sample that did not measure what it should have.
     *
     * @return whether the run goes on
     * @throws IllegalStateException when there has been no good one yet, and many bad ones
     */
    boolean discard(long now, String why) {
        if (now - from >= 0 && ++discarded >= HOPELESS && histogram.getTotalCount() == 0) {
            throw new IllegalStateException("no sample could be taken: " + why);
        }
        return wantsMore(now);
    }

    /** Returns whether the run goes on. */
    boolean wantsMore(long now) {
        long n = histogram.getTotalCount();
        return n == 0 || n < cap && now - deadline < 0;
    }

    /** Returns the result. */
    Result result(Run run, Floor floor) {
        return new Result(run, histogram, operations, discarded, floor);
    }
}
