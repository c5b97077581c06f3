// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Readings of one scheduler for libraries that read one number after another. For {@value #FRESH_NANOS} ns all numbers are of the same
 * reading. Thread-safe.
 */
final class Sampled {
    private static final long FRESH_NANOS = 100_000_000;
    /** Bounds of histograms are powers of 4 ns: 1 µs to 17 s, and infinity. */
    private static final int FIRST_POWER = 10;
    private static final int LAST_POWER = 34;
    private static final int STEP = 2;
    private static final double NANOS = 1e9;

    private final Metrics metrics;
    private final ReentrantLock lock = new ReentrantLock();
    // Under the lock.
    private Map<String, Object> values = Map.of();
    private long readAt;
    private volatile boolean closed; // Written under the lock.

    Sampled(Metrics metrics) {
        this.metrics = metrics;
    }

    /** Returns the name of a metric for the libraries. */
    static String name(Description d) {
        return "gmp" + d.name().substring(0, d.name().indexOf(':')).replace('/', '.').replace('-', '.');
    }

    /** Returns the bounds of histograms for the libraries, seconds. */
    static double[] bounds() {
        double[] bounds = new double[(LAST_POWER - FIRST_POWER) / STEP + 2];
        for (int i = 0; i < bounds.length - 1; i++) {
            bounds[i] = (1L << FIRST_POWER + i * STEP) / NANOS;
        }
        bounds[bounds.length - 1] = Double.POSITIVE_INFINITY;
        return bounds;
    }

    /** Returns the text of a bound in Prometheus's form. */
    static String text(double bound) {
        return Double.isInfinite(bound) ? "+Inf" : Double.toString(bound);
    }

    /** Returns the values; the last ones when the scheduler was closed. */
    Map<String, Object> values() {
        lock.lock();
        try {
            long now = System.nanoTime();
            closed |= metrics.closed();
            if (!closed && (values.isEmpty() || now - readAt >= FRESH_NANOS)) {
                try {
                    values = metrics.read();
                    readAt = now;
                } catch (IllegalStateException e) {
                    closed = true;
                }
            }
            return values;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the current value of a metric; not a number when the scheduler was closed. */
    double now(String name) {
        return values().get(name) instanceof Number n && !closed ? n.doubleValue() : Double.NaN;
    }

    /** Returns the value of a counter now, or its last value when the scheduler was closed. */
    double counted(String name) {
        return values().get(name) instanceof Number n ? n.doubleValue() : 0;
    }

    /** Returns the value of a P's counter now, or its last value when the scheduler was closed. */
    double counted(String name, int p) {
        return values().get(name) instanceof long[] byP && p < byP.length ? byP[p] : 0;
    }

    /** Returns the current value of a P's metric; not a number when the scheduler was closed. */
    double now(String name, int p) {
        return values().get(name) instanceof long[] byP && p < byP.length && !closed ? byP[p] : Double.NaN;
    }

    /** Returns a histogram; null when the scheduler was closed before the first reading. */
    @Nullable Histogram histogram(String name) {
        return (Histogram) values().get(name);
    }
}
