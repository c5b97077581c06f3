// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import org.HdrHistogram.Histogram;

/**
 * What a run found.
 *
 * @param run the run
 * @param histogram its samples, each the nanoseconds of {@code operations} operations
 * @param operations what to divide a sample by
 * @param discarded samples left out because they did not measure what they should have
 * @param floor the same in C beside it, or null
 */
record Result(Run run, Histogram histogram, int operations, long discarded, Floor floor) {
    /** The percentiles that are told. */
    static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99};

    /** Their names: {@code p50} … */
    static final String[] NAMES = {"p50", "p90", "p99", "p999", "p9999"};

    private static final int ENOUGH = 10;

    /** Returns the number of samples. */
    long samples() {
        return histogram.getTotalCount();
    }

    /** Nanoseconds at a percentile, 0 to 100. */
    double at(double percentile) {
        return (double) histogram.getValueAtPercentile(percentile) / operations;
    }

    /** Nanoseconds of the longest. */
    double max() {
        return (double) histogram.getMaxValue() / operations;
    }

    /** Returns whether enough samples lie beyond a percentile for it to mean something. */
    boolean supports(double percentile) {
        return samples() * (100 - percentile) / 100 >= ENOUGH - 1e-6;
    }

    /** Returns whether there is a schedule that samples could have missed. */
    boolean correctable() {
        return run.kind() != Run.Kind.STEAL && run.gapNanos() > 0;
    }

    /** Nanoseconds from one sample to the next when nothing holds it up: the gap and the median. */
    long interval() {
        return run.gapNanos() + histogram.getValueAtPercentile(50);
    }

    /** Adds the samples that a fixed schedule would have taken while a long one lasted. Only where correctable. */
    Result corrected() {
        return new Result(
                run, histogram.copyCorrectedForCoordinatedOmission(interval()), operations, discarded, floor);
    }
}
