// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.Map;
import java.util.TreeMap;

/**
 * A scheduler in JMX, under {@code org.gmp4j:type=Gmp,name=NAME}. It is registered within a second after the process first uses JMX (by a
 * {@code -Dcom.sun.management.jmxremote} option, a console or {@code jcmd PID ManagementAgent.start_local}), or within ten seconds if no
 * goroutine has run for a while. With {@code GMPDEBUG=jmx=1} it is registered from the start. Until it is registered, at most one class of
 * JMX is loaded. The tools {@code gmp top}, {@code goroutines}, {@code leaks}, {@code profile}, {@code trace} and {@code set} use the bean.
 * Thread-safe.
 */
public interface GmpMXBean {
    /** Returns the scheduler's name, with which its threads' names begin. */
    String getName();

    /** Returns the number of Ps. */
    int getProcs();

    /** Returns the number of goroutines. */
    int getGoroutines();

    /** Returns the number of the scheduler's threads, including those that sleep. */
    int getThreads();

    /**
     * Returns how often a P was taken from a goroutine that blocked its thread, or ran past its quantum without reaching a preemption
     * point.
     */
    long getStalls();

    /** Returns all {@link Metrics} whose value is a single number, by name. */
    Map<String, Double> getMetrics();

    /** Returns all {@link Metrics}, from one reading. */
    Snapshot snapshot();

    /**
     * A reading, with only types that JMX knows.
     *
     * @param numbers the metrics whose value is a single number, by name
     * @param byP the metrics with a number for each P
     * @param byPair the metrics with a number for each pair of Ps
     * @param histograms for each histogram, the number of values in each bucket
     * @param bounds the bounds of the buckets, the same for all histograms
     * @param states the goroutines by state, see {@link Metrics#states}
     */
    record Snapshot(Map<String, Double> numbers, Map<String, long[]> byP, Map<String, long[][]> byPair, Map<String, long[]> histograms,
            double[] bounds, Map<String, Long> states) {
        /** Returns the values in the form of {@link Metrics#read}, but each single number is a {@link Double}. */
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

    /** Returns every goroutine in the form of Go's tracebacks. */
    String dump();

    /** Returns the text of a {@link GoroutineProfile}: the goroutines in groups with counts. */
    String goroutines();

    /** Returns the goroutines in groups in the format of pprof: see {@link GoroutineProfile#pprof}. */
    byte[] goroutinesPprof();

    /**
     * Returns the goroutines that nothing can wake: the text of {@code Gmp.leaks()}. The search stops all goroutines for a full
     * collection of the heap.
     *
     * @throws IllegalStateException when this JVM cannot find leaks
     */
    String leaks();

    /** Returns the leaked goroutines in the format of pprof. Throws the exceptions of {@link #leaks}. */
    byte[] leaksPprof();

    /**
     * Profiles the scheduler for some seconds, and returns the text of the {@link Profile}. Unless the program has set a rate, the
     * profile has all waits of at least 10 µs, a sample of the shorter waits, and each unlock for which a goroutine waited. Waits for
     * locks, monitors and conditions of the JDK are sampled every 10 ms. Only the part of such a wait that lies within the time of the
     * profile counts, and the label {@code wait} has its reason.
     *
     * <p>Any thread may call it. It waits for that time. An interrupt ends the wait, and in a bubble the wait holds the clock.
     *
     * @param kind {@code cpu}, {@code block} or {@code mutex}
     * @param seconds more than 0, at most 3600
     * @throws IllegalArgumentException when a parameter is bad; the message is one sentence
     * @throws IllegalStateException when another block or mutex profile is being taken by such a call
     */
    String profile(String kind, double seconds);

    /**
     * Profiles the scheduler as {@link #profile} does, with the same rules for threads, interrupts and bubbles, and returns the profile in
     * the format of pprof.
     *
     * @throws IllegalArgumentException when a parameter is bad; the message is one sentence
     * @throws IllegalStateException when another block or mutex profile is being taken by such a call
     */
    byte[] profilePprof(String kind, double seconds);

    /**
     * Writes an execution trace of some seconds of all schedulers of the process, as {@code Trace} does.
     *
     * <p>Any thread may call it. It waits for that time and until the file is written. An interrupt ends the trace early, and in a bubble
     * the wait holds the clock.
     *
     * @param file the file to write, a path in this process
     * @param seconds more than 0, at most 3600
     * @throws IllegalArgumentException when {@code seconds} is out of range or the file cannot be written; the message is one sentence
     * @throws IllegalStateException when a scheduler is being traced already
     */
    void trace(String file, double seconds);

    /**
     * Changes settings of the scheduler: {@code procs=4}, {@code quantum=1ms} or {@code quantum=200us..10ms}. All settings are checked
     * before the first change, so a bad one changes nothing.
     *
     * @param settings the settings to change; may be empty
     * @return all settings that can be changed, one per line, with their present values
     * @throws IllegalArgumentException when a name or a value is bad; the message is one sentence that says what is possible
     */
    String set(String[] settings);
}
