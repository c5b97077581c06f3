// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Map;
import java.util.TreeMap;

/**
 * A scheduler as JMX shows it, under {@code org.gmp4j:type=Gmp,name=NAME}. It is there within a second after anybody in the
 * process uses JMX (a {@code -Dcom.sun.management.jmxremote} option, a console or {@code jcmd PID
 * ManagementAgent.start_local}), within ten where no goroutine has run for long, and from the start with {@code GMPDEBUG=jmx=1}; until
 * then nothing of JMX is loaded.
 * Thread-safe.
 */
public interface GmpMXBean {
    /** Its name, the first part of its threads' names. */
    String getName();

    /** The number of Ps. */
    int getProcs();

    /** How many goroutines live. */
    int getGoroutines();

    /** How many threads it has, asleep or not. */
    int getThreads();

    /** How often a P was taken from a goroutine that blocked its thread, or ran past its quantum and came to no point. */
    long getStalls();

    /** All {@link Metrics} that are one number, by name. */
    Map<String, Double> getMetrics();

    /** All that {@link Metrics} have, of one reading. */
    Snapshot snapshot();

    /**
     * A reading in types that JMX knows.
     *
     * @param numbers the metrics that are one number, by name
     * @param byP those with a number for each P
     * @param byPair those with a number for each pair of Ps
     * @param histograms of histograms how many values are in each bucket
     * @param bounds the buckets' bounds, the same for all
     * @param states as {@link Metrics#states}
     */
    record Snapshot(Map<String, Double> numbers, Map<String, long[]> byP, Map<String, long[][]> byPair, Map<String, long[]> histograms,
            double[] bounds, Map<String, Long> states) {
        /** As {@link Metrics#read} has them, but each that is one number is a {@link Double}. */
        public Map<String, Object> values() {
            Map<String, Object> values = new TreeMap<>(numbers);
            values.putAll(byP);
            values.putAll(byPair);
            histograms.forEach((name, counts) -> values.put(name, new Histogram(counts, bounds)));
            return values;
        }
    }

    /** All metrics of all schedulers of the process in Prometheus's format. */
    String prometheus();

    /** Every goroutine in Go's traceback form. */
    String dump();
}
