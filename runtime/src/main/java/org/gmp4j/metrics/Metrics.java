// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.proc.Scheduler;
import org.gmp4j.report.Traceback;

/**
 * What one scheduler counts: {@code Gmp.metrics()}. Names and meanings are those of Go's {@code runtime/metrics} where Go has the
 * metric; where Go has none they are ours. {@link #all()} has all of them.
 *
 * <p>Counters are words outside the Java heap, each written by one thread at a time without an atomic instruction. Reading stops
 * nothing and takes no goroutine's P; it takes the scheduler's lock twice, for as long as it takes to look at each P. Thread-safe.
 *
 * <p>Numbers of one reading are not all of the same moment. Those that hold in each are: goroutines in the four states are never fewer
 * than zero, and a cumulative number is never less than in a reading before.
 */
public final class Metrics {
    private final Scheduler s;

    /** Of a scheduler; users call {@code Gmp.metrics()}. */
    @SuppressWarnings("exports")
    public Metrics(Scheduler s) {
        this.s = s;
    }

    /** The name of the scheduler, as in the label of Prometheus's page; with a number after it if another live one has the same. */
    public String scheduler() {
        return s.label();
    }

    /** Whether the scheduler has ended. */
    boolean closed() {
        return s.isStopped();
    }

    /** What there is, in the order of the names. */
    public static List<Description> all() {
        return Catalog.ALL.stream().map(Catalog.Entry::description).toList();
    }

    /**
     * Reads all metrics.
     *
     * @return by name the value, in the order of the names: a {@link Long}, {@link Double}, {@link Histogram}, {@code long[]} or
     *     {@code long[][]}, as the {@link Description} says
     * @throws IllegalStateException when the scheduler is closed
     */
    public Map<String, Object> read() {
        Map<String, Object> values = new TreeMap<>();
        begin();
        try {
            Reading r = new Reading(s);
            for (Catalog.Entry e : Catalog.ALL) {
                values.put(e.description().name(), e.read().apply(r));
            }
        } finally {
            s.endReading();
        }
        return values;
    }

    /**
     * Reads one.
     *
     * @param name as in {@link #all()}
     * @throws IllegalArgumentException when there is none of that name
     * @throws IllegalStateException when the scheduler is closed
     */
    public Object read(String name) {
        for (Catalog.Entry e : Catalog.ALL) {
            if (e.description().name().equals(name)) {
                begin();
                try {
                    return e.read().apply(new Reading(s));
                } finally {
                    s.endReading();
                }
            }
        }
        throw new IllegalArgumentException("there is no metric \"" + name + "\"; Metrics.all() has their names");
    }

    /**
     * How many goroutines are in each state, by the words of a traceback: {@code running}, {@code runnable}, {@code chan receive},
     * {@code running, locked to thread}. Looks at each goroutine, not at its stack, and takes no lock: some 10 to 100 ns of the
     * caller for each. Each is as it was at some moment meanwhile.
     *
     * @return by state the number, which is never 0, in the order of the states' names
     * @throws IllegalStateException when the scheduler is closed
     */
    public Map<String, Long> states() {
        begin();
        try {
            return Traceback.states(s);
        } finally {
            s.endReading();
        }
    }

    private void begin() {
        if (!s.beginReading()) {
            throw new IllegalStateException("the Gmp is closed");
        }
    }

    /**
     * The metrics of all schedulers of this process, in the text format of Prometheus (version 0.0.4): {@code
     * gmp_sched_goroutines_goroutines{scheduler="gmp0"} 7}. Names are Go's with {@code gmp} before them and an underscore
     * for whatever is no letter; those that are cumulative end with {@code _total}. For programs that have an HTTP server.
     */
    public static String prometheus() {
        return PrometheusText.of(Scheduler.all());
    }
}
