// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * Readings of one scheduler, for libraries that read one metric at a time. All numbers read within {@value #FRESH_NANOS} ns are from the
 * same reading. Thread-safe.
 */
final class Sampled {
    private static final long FRESH_NANOS = 100_000_000;
    /** The exponents of the first and the last bound of histograms, which are powers of two, in ns: from 1 µs to 17 s. */
    private static final int FIRST_POWER = 10;
    private static final int LAST_POWER = 34;
    private static final int STEP = 2;
    private static final double NANOS = 1e9;

    private final Metrics metrics;
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock.
    private Map<String, Object> values = Map.of();
    private long readAt;
    private volatile boolean closed; // Written under the lock.

    Sampled(Metrics metrics) {
        this.metrics = metrics;
    }

    /** Returns the name that a metric has in these libraries. */
    static String name(Description d) {
        return "gmp" + d.name().substring(0, d.name().indexOf(':')).replace('/', '.').replace('-', '.');
    }

    /** Returns the bounds that histograms have in these libraries, seconds. */
    static double[] bounds() {
        double[] bounds = new double[(LAST_POWER - FIRST_POWER) / STEP + 2];
        for (int i = 0; i < bounds.length - 1; i++) {
            bounds[i] = (1L << FIRST_POWER + i * STEP) / NANOS;
        }
        bounds[bounds.length - 1] = Double.POSITIVE_INFINITY;
        return bounds;
    }

    /** Returns a bound as text in Prometheus's form. */
    static String text(double bound) {
        return Double.isInfinite(bound) ? "+Inf" : Double.toString(bound);
    }

    /** Returns the values of all metrics; after the scheduler was closed, their last values. */
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

    /** Returns the current value of a metric; not a number (NaN) after the scheduler was closed. */
    double now(String name) {
        return values().get(name) instanceof Number n && !closed ? n.doubleValue() : Double.NaN;
    }

    /** Returns the value of a counter; after the scheduler was closed, its last value. */
    double counted(String name) {
        return values().get(name) instanceof Number n ? n.doubleValue() : 0;
    }

    /** Returns the value of a P's counter; after the scheduler was closed, its last value. */
    double counted(String name, int p) {
        return values().get(name) instanceof long[] byP && p < byP.length ? byP[p] : 0;
    }

    /** Returns the current value of a P's metric; not a number (NaN) after the scheduler was closed. */
    double now(String name, int p) {
        return values().get(name) instanceof long[] byP && p < byP.length && !closed ? byP[p] : Double.NaN;
    }

    /** Returns a histogram; null when the scheduler was closed before the first reading. */
    @Nullable Histogram histogram(String name) {
        return (Histogram) values().get(name);
    }
}
