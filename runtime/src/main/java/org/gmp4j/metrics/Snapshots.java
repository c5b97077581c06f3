// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.sched.base.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * All schedulers of the process as JSON, for the {@link Dashboard}'s page. The text is made at most once in {@value #FRESH_NANOS} ns,
 * however many clients request it. So requests cannot keep the process busy.
 */
final class Snapshots implements WebServer.Bytes {
    private static final long FRESH_NANOS = 100_000_000;
    /** The least time, ns, between the two readings from which symptoms are derived, except for a scheduler's first readings. */
    private static final long APART_NANOS = 900_000_000;
    private static final double NANOS_A_MILLI = 1e6;
    /** Identifies the process. A page that finds another process at the same port begins anew. */
    private static final String PROCESS = ProcessHandle.current().pid() + " " + Long.toHexString(System.nanoTime());

    private record Taken(long at, Map<String, Object> metrics) {
    }

    /** Two readings of a scheduler that are at least {@link #APART_NANOS} apart, or its first reading twice. */
    private record Pair(Taken before, Taken last) {
    }

    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock.
    private Map<Scheduler, Pair> pairs = new HashMap<>();
    private byte @Nullable [] made;
    private long madeAt;

    @Override
    public byte[] read() throws IOException {
        try {
            lock.lockInterruptibly();
        } catch (InterruptedException cutOff) {
            throw (IOException) new InterruptedIOException().initCause(cutOff);
        }
        try {
            long now = System.nanoTime();
            if (made == null || now - madeAt >= FRESH_NANOS) {
                made = make(now).getBytes(UTF_8);
                madeAt = now;
            }
            return made;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the metrics of all schedulers, except the metrics by pair of Ps. */
    static String brief() {
        StringBuilder b = begin(System.nanoTime());
        String comma = "";
        for (Scheduler s : new LinkedHashSet<>(Scheduler.all())) {
            Map<String, Object> metrics;
            try {
                metrics = new Metrics(s).read();
            } catch (IllegalStateException closed) {
                continue;
            }
            boolean _ = metrics.values().removeIf(long[][].class::isInstance);
            metrics(b.append(comma), s.label(), metrics);
            b.append('}');
            comma = ",";
        }
        return b.append("]}").toString();
    }

    private static StringBuilder begin(long now) {
        return new StringBuilder("{\"process\":\"").append(PROCESS)
                .append("\",\"millis\":").append(now / NANOS_A_MILLI)
                .append(",\"time\":").append(System.currentTimeMillis()).append(",\"schedulers\":[");
    }

    private String make(long now) {
        StringBuilder b = begin(now);
        Map<Scheduler, Pair> next = new HashMap<>();
        String comma = "";
        for (Scheduler s : new LinkedHashSet<>(Scheduler.all())) { // A scheduler may be in the list twice.
            Map<String, Object> metrics;
            Map<String, Long> states;
            try {
                Metrics m = new Metrics(s);
                metrics = m.read();
                states = m.states();
            } catch (IllegalStateException closed) {
                continue; // The scheduler has just been closed.
            }
            Pair p = pairs.get(s);
            Taken taken = new Taken(now, metrics);
            p = p == null ? new Pair(taken, taken) : now - p.last.at >= APART_NANOS ? new Pair(p.last, taken) : p;
            next.put(s, p);
            b.append(comma);
            scheduler(b, s.label(), metrics, states, Symptom.between(p.before.metrics, metrics, states));
            comma = ",";
        }
        pairs = next;
        return b.append("]}").toString();
    }

    /** Appends the beginning of a scheduler's object. */
    private static void metrics(StringBuilder b, String name, Map<String, Object> metrics) {
        b.append("{\"name\":");
        string(b, name);
        b.append(",\"metrics\":{");
        String comma = "";
        for (Map.Entry<String, Object> m : metrics.entrySet()) {
            b.append(comma).append('"').append(m.getKey()).append("\":");
            value(b, m.getValue());
            comma = ",";
        }
        b.append('}');
    }

    private static void scheduler(StringBuilder b, String name, Map<String, Object> metrics, Map<String, Long> states,
            List<Symptom> symptoms) {
        metrics(b, name, metrics);
        b.append(",\"states\":{");
        String comma = "";
        for (Map.Entry<String, Long> state : states.entrySet()) {
            b.append(comma);
            string(b, state.getKey());
            b.append(':').append(state.getValue());
            comma = ",";
        }
        b.append("},\"symptoms\":[");
        comma = "";
        for (Symptom s : symptoms) {
            b.append(comma).append("{\"kind\":\"").append(s.kind()).append("\",\"text\":");
            string(b, s.text());
            b.append('}');
            comma = ",";
        }
        b.append("]}");
    }

    /**
     * Appends a value. A histogram becomes [lower bound, upper bound or null, count] for each bucket that is not empty. A metric by pair
     * becomes [thief, victim, number] for each pair with steals.
     */
    private static void value(StringBuilder b, Object value) {
        switch (value) {
            case Histogram h -> {
                b.append('[');
                String comma = "";
                for (int i = 0; i < h.counts().length; i++) {
                    if (h.counts()[i] != 0) {
                        double high = h.bounds()[i + 1];
                        b.append(comma).append('[').append(h.bounds()[i]).append(',').append(Double.isInfinite(high) ? "null" : high)
                                .append(',').append(h.counts()[i]).append(']');
                        comma = ",";
                    }
                }
                b.append(']');
            }
            case long[] byP -> b.append(Arrays.toString(byP).replace(" ", ""));
            case long[][] byPair -> {
                b.append('[');
                String comma = "";
                for (int thief = 0; thief < byPair.length; thief++) {
                    for (int victim = 0; victim < byPair[thief].length; victim++) {
                        if (byPair[thief][victim] != 0) {
                            b.append(comma).append('[').append(thief).append(',').append(victim).append(',')
                                    .append(byPair[thief][victim]).append(']');
                            comma = ",";
                        }
                    }
                }
                b.append(']');
            }
            default -> b.append(value);
        }
    }

    private static void string(StringBuilder b, String s) {
        b.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        b.append('"');
    }
}
