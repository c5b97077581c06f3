// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.report.Traceback;
import org.gmp4j.sched.base.Scheduler;

/**
 * The metrics of one scheduler: {@code Gmp.metrics()}. Metrics that exist in Go have the names and meanings of Go's
 * {@code runtime/metrics}. {@link #all()} lists all metrics.
 *
 * <p>Counters are words outside the Java heap. One thread at a time writes each of them, without an atomic instruction. A reading stops no
 * thread and takes no goroutine's P. It takes the scheduler's lock to read the idle times of all Ps.
 * Thread-safe.
 *
 * <p>The numbers of one reading are not all from the same moment. But the numbers of goroutines in the four states are never negative, and
 * a cumulative number is never less than in an earlier reading.
 */
public final class Metrics {
    private final Scheduler s;

    /** Makes the metrics of a scheduler. Users call {@code Gmp.metrics()}. */
    @SuppressWarnings("exports")
    public Metrics(Scheduler s) {
        this.s = s;
    }

    /**
     * Returns the name of the scheduler, which is also its label in {@link #prometheus()}. A number is appended if another live scheduler
     * has the same name.
     */
    public String scheduler() {
        return s.label();
    }

    /** Returns whether the scheduler has ended. */
    boolean closed() {
        return s.isStopped();
    }

    /** Returns the descriptions of all metrics, in the order of their names. */
    public static List<Description> all() {
        return Catalog.ALL.stream().map(Catalog.Entry::description).toList();
    }

    /**
     * Reads all metrics.
     *
     * @return the values by name, in the order of the names. The type of each is {@link Long}, {@link Double}, {@link Histogram},
     *     {@code long[]} or {@code long[][]}: see {@link Description#kind}
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
     * Reads one metric.
     *
     * @param name a name from {@link #all()}
     * @throws IllegalArgumentException when there is no metric of that name
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
     * Returns the number of goroutines in each state, in the words of a traceback: {@code running}, {@code runnable}, {@code chan receive},
     * {@code park (ReentrantLock)}, {@code running, locked to thread}. The method reads all goroutines' states but few stacks, and takes
     * no lock. Its time grows with the number of goroutines. Each goroutine counts in the state that it had at some moment during the call.
     *
     * @return the numbers by state, in the order of the states' names; no number is 0
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
     * Returns the metrics of all schedulers of this process, in the text format of Prometheus (version 0.0.4): {@code
     * gmp_sched_goroutines_goroutines{scheduler="gmp0"} 7}. A name is {@code gmp} and the metric's name, with an underscore for each
     * character that is not a letter. Names of cumulative metrics end with {@code _total}. A program's HTTP server can serve this text.
     */
    public static String prometheus() {
        return PrometheusText.of(Scheduler.all());
    }
}
