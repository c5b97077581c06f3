// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

/**
 * How often values of certain sizes were seen. Source: {@code runtime/metrics.Float64Histogram} of Go. The arrays are the caller's.
 *
 * @param counts how many values were in bucket i: from {@code bounds[i]} on, and below {@code bounds[i + 1]}
 * @param bounds the bounds of the buckets in ascending order, one more than there are counts, in the metric's unit; the last is
 *     infinity. The same each time that a metric is read
 */
public record Histogram(long[] counts, double[] bounds) {
    /** How many values were seen. */
    public long count() {
        long n = 0;
        for (long c : counts) {
            n += c;
        }
        return n;
    }

    /**
     * A bound that at least a share {@code q} of the values are below, and of the buckets' bounds the least such.
     *
     * @param q from 0 to 1
     * @return 0 when nothing was seen; of what is in the last bucket its lower bound
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

    /** How many values were in buckets that begin below a bound. */
    long below(double bound) {
        long n = 0;
        for (int i = 0; i < counts.length && bounds[i] < bound; i++) {
            n += counts[i];
        }
        return n;
    }

    /** About the sum of all values: each is taken to be in the middle of its bucket, in the last one at its beginning. */
    public double sum() {
        double sum = 0;
        for (int i = 0; i < counts.length; i++) {
            double high = i + 1 < counts.length ? bounds[i + 1] : bounds[i];
            sum += counts[i] * (bounds[i] + high) / 2;
        }
        return sum;
    }
}
