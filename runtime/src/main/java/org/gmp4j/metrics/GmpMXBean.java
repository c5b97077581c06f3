// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Map;
import java.util.TreeMap;

/**
 * A scheduler as JMX shows it, under {@code org.gmp4j:type=Gmp,name=NAME}. It is registered within a second after the process first
 * uses JMX (by a {@code -Dcom.sun.management.jmxremote} option, a console or {@code jcmd PID ManagementAgent.start_local}), within ten
 * seconds if no goroutine has run for long, and from the start with {@code GMPDEBUG=jmx=1}. Until then no classes of JMX are loaded.
 * {@code gmp top}, {@code goroutines}, {@code leaks}, {@code profile}, {@code trace} and {@code set} use it. Thread-safe.
 */
public interface GmpMXBean {
    /** Returns the scheduler's name, the first part of its threads' names. */
    String getName();

    /** Returns the number of Ps. */
    int getProcs();

    /** Returns the number of goroutines. */
    int getGoroutines();

    /** Returns the number of the scheduler's threads, asleep or not. */
    int getThreads();

    /** Returns how often a P was taken from a goroutine that blocked its thread, or ran past its quantum and reached no point. */
    long getStalls();

    /** Returns all {@link Metrics} that are one number, by name. */
    Map<String, Double> getMetrics();

    /** Returns all {@link Metrics}, of one reading. */
    Snapshot snapshot();

    /**
     * A reading in types that JMX knows.
     *
     * @param numbers the metrics that are one number, by name
     * @param byP the metrics with a number for each P
     * @param byPair the metrics with a number for each pair of Ps
     * @param histograms the histograms' numbers of values in each bucket
     * @param bounds the buckets' bounds, the same for all
     * @param states the goroutines by state, see {@link Metrics#states}
     */
    record Snapshot(Map<String, Double> numbers, Map<String, long[]> byP, Map<String, long[][]> byPair, Map<String, long[]> histograms,
            double[] bounds, Map<String, Long> states) {
        /** Returns the values of {@link Metrics#read}, except that each single number is a {@link Double}. */
        public Map<String, Object> values() {
            Map<String, Object> values = new TreeMap<>(numbers);
            values.putAll(byP);
            values.putAll(byPair);
            histograms.forEach((name, counts) -> values.put(name, new Histogram(counts, bounds)));
            return values;
        }
    }

    /** Returns all metrics of all schedulers of the process in Prometheus's format. */
    String prometheus();

    /** Returns every goroutine in Go's traceback form. */
    String dump();

    /** Returns the goroutines in groups with counts: the text of a {@link GoroutineProfile}. */
    String goroutines();

    /** Returns the same in the format of pprof: {@link GoroutineProfile#pprof}. */
    byte[] goroutinesPprof();

    /**
     * Returns the goroutines that nothing can wake: the text of {@code Gmp.leaks()}. The search stops all goroutines for a full
     * collection of the heap.
     *
     * @throws IllegalStateException when this JVM cannot tell
     */
    String leaks();

    /** Returns the same in the format of pprof. Throws as {@link #leaks}. */
    byte[] leaksPprof();

    /**
     * Profiles the scheduler for some seconds, and returns the text of the {@link Profile}. If the program has set no rate itself, waits
     * from 10 µs on are recorded, a share of the shorter ones, and each unlock for which a goroutine waited, but none after that time.
     * Those for locks, monitors and conditions of the JDK are sampled every 10 ms: a wait counts for the part of it that is in that time,
     * and has its reason as the label {@code wait}.
     *
     * <p>Any thread may call it. It waits for that time. An interrupt ends the wait, and in a bubble the wait holds the clock.
     *
     * @param kind {@code cpu}, {@code block} or {@code mutex}
     * @param seconds more than 0, at most 3600
     * @throws IllegalArgumentException when a parameter is bad, with one sentence
     * @throws IllegalStateException when another block or mutex profile is being taken by such a call
     */
    String profile(String kind, double seconds);

    /**
     * Returns the same in the format of pprof: see {@link #profile}, also for threads, interrupts and bubbles.
     *
     * @throws IllegalArgumentException when a parameter is bad, with one sentence
     * @throws IllegalStateException when another block or mutex profile is being taken by such a call
     */
    byte[] profilePprof(String kind, double seconds);

    /**
     * Writes an execution trace of some seconds of all schedulers of the process, as {@code Trace} does.
     *
     * <p>Any thread may call it. It waits for that time and until the file is written. An interrupt ends the trace early, and in a bubble
     * the wait holds the clock.
     *
     * @param file the file, which the process itself writes
     * @param seconds more than 0, at most 3600
     * @throws IllegalArgumentException when {@code seconds} is out of range or the file cannot be written, with one sentence
     * @throws IllegalStateException when a scheduler is being traced already
     */
    void trace(String file, double seconds);

    /**
     * Changes settings of the scheduler: {@code procs=4}, {@code quantum=1ms} or {@code quantum=200us..10ms}. All of them are checked
     * first, so a bad one changes nothing.
     *
     * @param settings may be empty
     * @return what can be changed, one a line, with the present values
     * @throws IllegalArgumentException when a name or a value is bad, with one sentence that says what is possible
     */
    String set(String[] settings);
}
