// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A sign of a problem in two readings of {@link Metrics}, about a second apart. The live page and {@code gmp top} print symptoms next to
 * the numbers. {@code runtime/DIAGNOSING.md} says what to do about each. A symptom that appears once may be chance; one that appears in
 * each reading is not. Immutable.
 *
 * @param kind the kind of problem
 * @param text one sentence with the numbers that show the problem
 */
public record Symptom(Kind kind, String text) {
    /** The kinds of symptoms. */
    public enum Kind {
        /** Ps are idle while goroutines wait in another P's queue. */
        IDLE_PS_BESIDE_A_QUEUE,
        /** Threads search for work and find none. */
        SPINNING_WITHOUT_WORK,
        /** Goroutines become runnable faster than they are run. */
        GLOBAL_QUEUE_GROWS,
        /** Goroutines are locked to threads, so only those threads can run them. */
        GOROUTINES_NEVER_MOVE,
        /** Some goroutines wait much longer for a P than others. */
        SLOW_TAIL,
        /** Goroutines block their threads outside of {@code Go.blocking}. */
        THREADS_BLOCKED
    }

    /** The least length of a queue that counts as long. A P that starts a few goroutines at a time has a shorter queue. */
    private static final long LONG_QUEUE = 16;
    /** The global queue counts as growing if it held this many goroutines and gained as many. A P's full queue moves only 128 there. */
    private static final long GROWN = 256;
    /**
     * Spinning threads count as threads without work if goroutines run at most this often per second. Timers and the like cause a few runs.
     */
    private static final double FEW_RUNS = 100;
    /**
     * The tail is slow if the 99th percentile of the waits for a P is at least this time, s, and at least {@link #TAIL} times the median.
     */
    private static final double SLOW = 0.005;
    private static final double TAIL = 10;
    /** The least number of waits from which the 99th percentile can be judged. */
    private static final long SAMPLES = 50;
    private static final double MEDIAN = 0.5;
    private static final double ONE_IN_100 = 0.99;

    /**
     * Returns the symptoms in two readings of one scheduler; empty when there are none.
     *
     * @param before the first reading, a result of {@link Metrics#read}
     * @param now the second reading
     * @param states the goroutines by state at the time of the second reading, a result of {@link Metrics#states}
     */
    public static List<Symptom> between(Map<String, Object> before, Map<String, Object> now, Map<String, Long> states) {
        List<Symptom> found = new ArrayList<>();
        long idle = Math.min(number(before, "/sched/procs/idle:procs"), number(now, "/sched/procs/idle:procs"));
        long queue = longest(before, now);
        if (idle > 0 && queue >= LONG_QUEUE) {
            add(found, Kind.IDLE_PS_BESIDE_A_QUEUE, "%s idle beside a queue of %d goroutines; threads: %d, asleep: %d",
                    are(idle, "P"), queue, number(now, "/sched/threads/total:threads"), number(now, "/sched/threads/idle:threads"));
        }
        long spinning = Math.min(number(before, "/sched/threads/spinning:threads"), number(now, "/sched/threads/spinning:threads"));
        double runs = grown(before, now, "/sched/runs/by-p:goroutines");
        if (spinning > 0 && queued(before) == 0 && queued(now) == 0 && runs <= FEW_RUNS * seconds(before, now)
                && grown(before, now, "/sched/steals/succeeded:probes") == 0) {
            add(found, Kind.SPINNING_WITHOUT_WORK, "%s looking for work in empty queues; %.0f runs meanwhile",
                    are(spinning, "thread"), runs);
        }
        long global = number(now, "/sched/runqueue/global:goroutines");
        long was = number(before, "/sched/runqueue/global:goroutines");
        if (was >= GROWN && global >= was + GROWN) {
            add(found, Kind.GLOBAL_QUEUE_GROWS, "the global queue has grown from %d to %d; %.0f goroutines were started, %.0f times a P's "
                    + "queue was full", was, global, grown(before, now, "/sched/goroutines-created:goroutines"),
                    grown(before, now, "/sched/runqueue/overflows:events"));
        }
        long locked = states.entrySet().stream().filter(e -> e.getKey().endsWith("locked to thread")).mapToLong(Map.Entry::getValue).sum();
        if (locked > 0) {
            add(found, Kind.GOROUTINES_NEVER_MOVE, "%s locked to a thread", are(locked, "goroutine"));
        }
        Histogram waits = between((Histogram) value(before, "/sched/latencies:seconds"),
                (Histogram) value(now, "/sched/latencies:seconds"));
        double median = waits.quantile(MEDIAN);
        double tail = waits.quantile(ONE_IN_100);
        if (waits.count() >= SAMPLES && tail >= SLOW && tail >= TAIL * median) {
            add(found, Kind.SLOW_TAIL,
                    "half of the goroutines waited less than %.3f ms for a P, one in 100 about %.1f ms or more", median * 1e3,
                    tail * 1e3);
        }
        double blocked = grown(before, now, "/sched/stalls/blocked:events");
        if (blocked > 0) {
            add(found, Kind.THREADS_BLOCKED, "%.0f Ps were taken from goroutines that blocked their threads; stall=1000 prints "
                    + "their stacks", blocked);
        }
        return found;
    }

    private static void add(List<Symptom> found, Kind kind, String format, Object... numbers) {
        found.add(new Symptom(kind, String.format(Locale.ROOT, format, numbers)));
    }

    private static String are(long n, String what) {
        return n == 1 ? "1 " + what + " is" : n + " " + what + "s are";
    }

    /** Returns a histogram of the values that were added between two readings. */
    public static Histogram between(Histogram before, Histogram now) {
        long[] counts = now.counts().clone();
        for (int i = 0; i < counts.length; i++) {
            counts[i] -= before.counts()[i];
        }
        return new Histogram(counts, now.bounds());
    }

    @SuppressWarnings("NullAway") // All metrics that are read here exist.
    private static Object value(Map<String, Object> m, String name) {
        return m.get(name);
    }

    private static long number(Map<String, Object> m, String name) {
        return ((Number) value(m, name)).longValue();
    }

    private static double sum(Object value) {
        return value instanceof long[] byP ? Arrays.stream(byP).sum() : ((Number) value).doubleValue();
    }

    private static double grown(Map<String, Object> before, Map<String, Object> now, String name) {
        return sum(value(now, name)) - sum(value(before, name));
    }

    private static double seconds(Map<String, Object> before, Map<String, Object> now) {
        return grown(before, now, "/cpu/classes/total:cpu-seconds") / Math.max(1, number(now, "/sched/gomaxprocs:threads"));
    }

    private static double queued(Map<String, Object> m) {
        return sum(value(m, "/sched/runqueue/local:goroutines")) + number(m, "/sched/runqueue/global:goroutines");
    }

    /** Returns the maximum, over all Ps, of the shorter of the two lengths of a P's queue. */
    private static long longest(Map<String, Object> before, Map<String, Object> now) {
        long[] was = (long[]) value(before, "/sched/runqueue/local:goroutines");
        long[] is = (long[]) value(now, "/sched/runqueue/local:goroutines");
        long longest = 0;
        for (int p = 0; p < Math.min(was.length, is.length); p++) {
            longest = Math.max(longest, Math.min(was[p], is[p]));
        }
        return longest;
    }
}
