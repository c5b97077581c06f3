// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.gmp4j.metrics.Symptom.Kind;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** What is a symptom, and what is nearly one, in readings that are made up. */
class SymptomTest {
    private static final String IDLE = "/sched/procs/idle:procs";
    private static final String LOCAL = "/sched/runqueue/local:goroutines";
    private static final String GLOBAL = "/sched/runqueue/global:goroutines";
    private static final String SPINNING = "/sched/threads/spinning:threads";
    private static final String RUNS = "/sched/runs/by-p:goroutines";
    private static final String LATENCIES = "/sched/latencies:seconds";
    private static final String TIME = "/cpu/classes/total:cpu-seconds";

    private final Map<String, Object> before;
    private final Map<String, Object> now;

    /** Two Ps, both at work; two seconds apart. */
    SymptomTest() {
        try (TestGmp g = TestGmp.procs(2)) {
            before = new TreeMap<>(g.gmp.metrics().read());
        }
        both(IDLE, 0L);
        both(SPINNING, 0L);
        both(GLOBAL, 0L);
        before.put(LOCAL, new long[2]);
        now = new TreeMap<>(before);
        before.put(TIME, 10.0);
        now.put(TIME, 14.0);
    }

    private void both(String name, Object value) {
        before.put(name, value);
        if (now != null) {
            now.put(name, value);
        }
    }

    private void found(String... texts) {
        assertEquals(List.of(texts), Symptom.between(before, now, Map.of("running", 2L)).stream().map(Symptom::text).toList());
    }

    private void kinds(Map<String, Long> states, Kind... kinds) {
        assertEquals(List.of(kinds), Symptom.between(before, now, states).stream().map(Symptom::kind).toList());
    }

    @Test
    void idlePs() {
        both(LOCAL, new long[] {99, 0});
        found(); // The other P is at work.
        both(IDLE, 1L);
        both("/sched/threads/total:threads", 4L);
        both("/sched/threads/idle:threads", 2L);
        found("1 P is idle beside a queue of 99 goroutines; threads: 4, asleep: 2");
        before.put(LOCAL, new long[] {0, 99});
        found(); // Another queue then: each was long for a moment.
        both(LOCAL, new long[] {15, 0});
        found();
        before.put(IDLE, 0L);
        both(LOCAL, new long[] {99, 0});
        found();
    }

    @Test
    void spinning() {
        both(SPINNING, 1L);
        now.put(RUNS, new long[] {((long[]) before.get(RUNS))[0] + 200, ((long[]) before.get(RUNS))[1]});
        found("1 thread is looking for work in empty queues; 200 runs meanwhile");
        now.put(RUNS, new long[] {((long[]) before.get(RUNS))[0] + 201, ((long[]) before.get(RUNS))[1]});
        found(); // More than 100 a second.
        now.put(RUNS, before.get(RUNS));
        now.put(GLOBAL, 1L);
        found();
        now.put(GLOBAL, 0L);
        now.put("/sched/steals/succeeded:probes", (Long) before.get("/sched/steals/succeeded:probes") + 1);
        found();
    }

    @Test
    void globalQueue() {
        before.put(GLOBAL, 300L);
        now.put(GLOBAL, 555L);
        found();
        now.put(GLOBAL, 556L);
        found("the global queue has grown from 300 to 556; 0 goroutines were started, 0 times a P's queue was full");
        before.put(GLOBAL, 255L);
        found(); // A burst, maybe.
    }

    @Test
    void lockedAndBlocked() {
        kinds(Map.of("running, locked to thread", 1L), Kind.GOROUTINES_NEVER_MOVE);
        kinds(Map.of("chan receive", 1L));
        now.put("/sched/stalls/blocked:events", (Long) before.get("/sched/stalls/blocked:events") + 1);
        kinds(Map.of(), Kind.THREADS_BLOCKED);
    }

    private void waits(int quick, int slow, double slowSeconds) {
        Histogram h = (Histogram) before.get(LATENCIES);
        long[] counts = h.counts().clone();
        for (int i = 0; i < counts.length; i++) {
            if (h.bounds()[i] <= 1e-5 && h.bounds()[i + 1] > 1e-5) {
                counts[i] += quick;
            }
            if (h.bounds()[i] <= slowSeconds && h.bounds()[i + 1] > slowSeconds) {
                counts[i] += slow;
            }
        }
        now.put(LATENCIES, new Histogram(counts, h.bounds()));
    }

    @Test
    void tail() {
        waits(90, 10, 0.02);
        kinds(Map.of(), Kind.SLOW_TAIL);
        waits(90, 10, 0.002);
        kinds(Map.of()); // Short enough.
        waits(10, 90, 0.02);
        kinds(Map.of()); // Nearly all are slow: that is no tail.
        waits(40, 9, 0.02);
        kinds(Map.of()); // Too few.
        waits(1000, 9, 0.02);
        kinds(Map.of()); // Fewer than one in 100.
    }
}
