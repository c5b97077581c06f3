// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.Arrays;

/**
 * An operation on the ring of a P beside the same in C11 atomics. Both are timed in alternating slices, so that what
 * slows the machine slows both; each slice gives a mean, and the medians of those are compared.
 */
final class Floor {
    private double[] java = new double[64];
    private double[] c = new double[64];
    private int n;

    /** Adds a pair of slices, as nanoseconds an operation. */
    void add(double javaNanos, double cNanos) {
        if (n == java.length) {
            java = Arrays.copyOf(java, 2 * n);
            c = Arrays.copyOf(c, 2 * n);
        }
        java[n] = javaNanos;
        c[n++] = cNanos;
    }

    /** Returns the number of pairs. */
    int slices() {
        return n;
    }

    /** Nanoseconds an operation in Java. */
    double javaNanos() {
        return median(java);
    }

    /** Nanoseconds an operation in C. */
    double cNanos() {
        return median(c);
    }

    /** Returns Java's time divided by C's. */
    double ratio() {
        return javaNanos() / cNanos();
    }

    private double median(double[] all) {
        double[] sorted = Arrays.copyOf(all, n);
        Arrays.sort(sorted);
        return n == 0 ? Double.NaN : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    }
}
