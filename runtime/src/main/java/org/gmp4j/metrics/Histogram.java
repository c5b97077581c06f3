// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Arrays;

/**
 * The distribution of values over buckets. Source: {@code runtime/metrics.Float64Histogram} of Go. A reading has arrays of its own, which
 * the caller may change.
 *
 * @param counts the number of values in each bucket. The values of bucket i are at least {@code bounds[i]} and below {@code bounds[i + 1]}
 * @param bounds the bounds of the buckets, in ascending order, in the metric's unit. There is one more bound than there are counts, and the
 *     last bound is infinity. The bounds are the same in each reading of a metric
 */
public record Histogram(long[] counts, double[] bounds) {
    /** Returns the number of values. */
    public long count() {
        return Arrays.stream(counts).sum();
    }

    /**
     * Returns the least bound of a bucket such that at least a share {@code q} of the values is below it.
     *
     * @param q the share, from 0 to 1
     * @return the bound; 0 when there are no values; the lower bound of the last bucket when the quantile is in it
     * @throws IllegalArgumentException when q is out of range
     */
    public double quantile(double q) {
        if (!(q >= 0 && q <= 1)) {
            throw new IllegalArgumentException("q is " + q + ": use 0 to 1");
        }
        long n = count();
        if (n == 0) {
            return 0;
        }
        long wanted = Math.max(1, (long) Math.ceil(q * n));
        int i = 0;
        for (long seen = counts[0]; seen < wanted; seen += counts[i]) {
            i++;
        }
        return bounds[Math.min(i + 1, bounds.length - 2)];
    }

    /** Returns the number of values in buckets that begin below a bound. */
    long below(double bound) {
        long n = 0;
        for (int i = 0; i < counts.length && bounds[i] < bound; i++) {
            n += counts[i];
        }
        return n;
    }

    /**
     * Returns an estimate of the sum of all values. Each value counts as the middle of its bucket, but in the last bucket as the lower
     * bound.
     */
    public double sum() {
        double sum = 0;
        for (int i = 0; i < counts.length; i++) {
            double high = i + 1 < counts.length ? bounds[i + 1] : bounds[i];
            sum += counts[i] * (bounds[i] + high) / 2;
        }
        return sum;
    }
}
