// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Map;
import java.util.stream.LongStream;
import javax.management.InstanceNotFoundException;

import org.gmp4j.metrics.GmpMXBean.Snapshot;
import org.gmp4j.metrics.Histogram;

/**
 * A scheduler at one time.
 *
 * @param nanos when
 * @param values as {@code Metrics.read} has them
 * @param states goroutines by state
 */
record Reading(long nanos, Map<String, Object> values, Map<String, Long> states) {
    /** Reads a bean. Returns null when its scheduler is being closed. */
    static Reading of(Process.Bean b) throws IOException {
        try {
            Snapshot s = b.bean().snapshot();
            return new Reading(System.nanoTime(), s.values(), s.states());
        } catch (UndeclaredThrowableException e) {
            if (e.getCause() instanceof InstanceNotFoundException) {
                return null;
            }
            throw new IOException(e.getCause());
        } catch (IllegalStateException closed) {
            return null;
        }
    }

    /** Returns a metric that is one number, or the sum over all Ps. */
    double number(String name) {
        return values.get(name) instanceof long[] byP ? LongStream.of(byP).sum() : ((Number) values.get(name)).doubleValue();
    }

    long count(String name) {
        return (long) number(name);
    }

    long[] byP(String name) {
        return (long[]) values.get(name);
    }

    Histogram histogram(String name) {
        return (Histogram) values.get(name);
    }
}
