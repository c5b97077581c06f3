// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.metrics.Description.Kind;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Buckets;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** Counters, against what was done. */
class MetricsTest {
    private static final List<String> OF_GO = List.of("/sched/gomaxprocs:threads", "/sched/threads/total:threads",
            "/sched/goroutines:goroutines", "/sched/goroutines-created:goroutines", "/sched/goroutines/not-in-go:goroutines",
            "/sched/goroutines/runnable:goroutines", "/sched/goroutines/running:goroutines", "/sched/goroutines/waiting:goroutines",
            "/sched/latencies:seconds", "/sched/pauses/stopping/other:seconds", "/sched/pauses/total/other:seconds",
            "/cpu/classes/idle:cpu-seconds", "/cpu/classes/total:cpu-seconds", "/cpu/classes/user:cpu-seconds",
            "/sync/mutex/wait/total:seconds");

    private static long number(TestGmp g, String name) {
        return (long) g.gmp.metrics().read(name);
    }

    private static double seconds(TestGmp g, String name) {
        return (double) g.gmp.metrics().read(name);
    }

    private static Histogram histogram(TestGmp g, String name) {
        return (Histogram) g.gmp.metrics().read(name);
    }

    @Test
    void everyMetricIsDescribedAndRead() {
        Set<String> names = new TreeSet<>();
        Set<String> inPrometheus = new HashSet<>();
        try (TestGmp g = TestGmp.procs(2)) {
            Map<String, Object> values = g.gmp.metrics().read();
            for (Description d : Metrics.all()) {
                assertTrue(d.name().matches("/[a-z/-]+:[a-z-]+"), d.name());
                assertTrue(d.help().endsWith("."), d.help());
                assertTrue(names.add(d.name()), "twice: " + d.name());
                assertTrue(inPrometheus.add(PrometheusText.name(d)), "twice in Prometheus: " + d.name());
                Class<?> type = switch (d.kind()) {
                    case LONG -> Long.class;
                    case DOUBLE -> Double.class;
                    case HISTOGRAM -> Histogram.class;
                    case BY_P -> long[].class;
                    case BY_PAIR -> long[][].class;
                };
                assertInstanceOf(type, values.get(d.name()), d.name());
            }
            assertEquals(names, values.keySet());
        }
        assertTrue(names.containsAll(OF_GO), "of Go's " + OF_GO);
    }

    @Test
    void anUnknownNameAndAClosedScheduler() {
        Gmp gmp = Gmp.builder().procs(1).build();
        Metrics m = gmp.metrics();
        Throwable unknown = assertThrows(IllegalArgumentException.class, () -> m.read("/sched/none:units"));
        assertEquals("there is no metric \"/sched/none:units\"; Metrics.all() has their names", unknown.getMessage());
        gmp.close();
        assertEquals("the Gmp is closed", assertThrows(IllegalStateException.class, m::read).getMessage());
    }

    @Test
    void goroutinesByState() {
        try (TestGmp g = TestGmp.procs(2)) {
            Chan<Integer> never = Chan.make();
            AtomicInteger there = new AtomicInteger();
            AtomicBoolean end = new AtomicBoolean();
            for (int i = 0; i < 5; i++) {
                g.go(() -> {
                    there.incrementAndGet();
                    Integer _ = never.recv();
                });
            }
            g.run(() -> {
                while (there.get() < 5) {
                    Go.gosched();
                }
                TestGmp.awaitOthers();
            });
            while (number(g, "/sched/goroutines:goroutines") != 5 || number(g, "/sched/goroutines/waiting:goroutines") != 5) {
                Thread.onSpinWait(); // The one of run may not be counted out yet.
            }
            for (int i = 0; i < 5; i++) { // Two of them run, three wait for a P.
                g.go(() -> {
                    there.incrementAndGet();
                    while (!end.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
            while (number(g, "/sched/goroutines/running:goroutines") != 2 || there.get() < 7) {
                Thread.onSpinWait();
            }
            assertEquals(10, number(g, "/sched/goroutines:goroutines"));
            Map<String, Object> m = g.gmp.metrics().read();
            long sum = Stream.of("not-in-go", "runnable", "running", "waiting")
                    .mapToLong(state -> (long) m.get("/sched/goroutines/" + state + ":goroutines")).sum();
            assertTrue(sum >= 8 && sum <= 12, m::toString); // Sysmon may just be moving one.
            end.set(true);
            never.close();
        }
    }

    /** Gs created = ended + alive; all that was taken from a P was taken by another; each run came from somewhere. */
    @Test
    void sumsAgree() {
        try (TestGmp g = TestGmp.procs(4)) {
            g.run(() -> {
                WaitGroup all = new WaitGroup();
                for (int i = 0; i < 2_000; i++) {
                    all.go(() -> {
                        WaitGroup children = new WaitGroup();
                        for (int k = 0; k < 10; k++) {
                            children.go(Go::gosched);
                        }
                        children.await();
                    });
                }
                all.await();
            });
            while (number(g, "/sched/goroutines:goroutines") != 0 || number(g, "/sched/procs/idle:procs") != 4) {
                Thread.onSpinWait(); // Until nothing moves any more.
            }
            Map<String, Object> m = g.gmp.metrics().read();
            assertEquals(22_001L, m.get("/sched/goroutines-created:goroutines"));
            long[] runs = (long[]) m.get("/sched/runs/by-p:goroutines");
            long sources = Stream.of("local", "global", "stolen", "polled")
                    .mapToLong(from -> (long) m.get("/sched/runs/" + from + ":goroutines")).sum();
            assertEquals(LongStream.of(runs).sum(), sources, m::toString);
            long[][] moved = (long[][]) m.get("/sched/steals/moved:goroutines");
            assertEquals(m.get("/sched/steals/moved/total:goroutines"), Stream.of(moved).flatMapToLong(LongStream::of).sum());
            for (int p = 0; p < 4; p++) {
                assertEquals(0, moved[p].length == 0 ? 0 : moved[p][p], "stolen from itself");
            }
            assertEquals((long) m.get("/sched/steals/tried:probes"),
                    (long) m.get("/sched/steals/succeeded:probes") + (long) m.get("/sched/steals/failed:probes"));
            assertTrue((long) m.get("/sched/runs/in-place:goroutines") > 0, m::toString);
            assertTrue((long) m.get("/sched/runqueue/overflows:events") > 0, m::toString);
            Histogram latency = (Histogram) m.get("/sched/latencies:seconds");
            long runnable = LongStream.of(runs).sum();
            assertTrue(latency.count() > runnable / 200 && latency.count() < runnable / 10, latency.count() + " of " + runnable);
        }
    }

    @Test
    void stealsArePairs() {
        try (TestGmp g = TestGmp.procs(2)) {
            while (number(g, "/sched/steals/moved/total:goroutines") == 0) {
                g.run(() -> {
                    AtomicInteger ran = new AtomicInteger();
                    for (int i = 0; i < 100; i++) {
                        Go.go(ran::incrementAndGet);
                    }
                    while (ran.get() < 100) {
                        Thread.onSpinWait(); // They are all in this P's queue, which is not looked at: the other has to take them.
                    }
                });
            }
            int old = g.gmp.setProcs(5); // The counts move to a larger table.
            assertEquals(2, old);
            long[][] moved = (long[][]) g.gmp.metrics().read("/sched/steals/moved:goroutines");
            assertEquals(5, moved.length);
            assertTrue(Stream.of(moved).flatMapToLong(LongStream::of).sum() > 0);
            assertEquals(0, moved[4].length);
        }
    }

    @Test
    void lockWaitsAndTimersAndSleeps() {
        try (TestGmp g = TestGmp.procs(2)) {
            Mutex m = new Mutex();
            RWMutex rw = new RWMutex();
            Runnable contend = () -> {
                m.lock();
                rw.lock();
                for (int i = 0; i < 3; i++) {
                    Go.go(() -> {
                        m.lock();
                        m.unlock();
                        rw.rLock();
                        rw.rUnlock();
                    });
                }
                TestGmp.awaitOthers();
                Go.sleep(Duration.ofMillis(20));
                m.unlock();
                Go.sleep(Duration.ofMillis(20));
                rw.unlock();
            };
            g.run(contend);
            double waited = seconds(g, "/sync/mutex/wait/total:seconds"); // Three of them for the mutex, 20 ms each.
            assertTrue(waited > 0.06 - 0.001, "waited " + waited);
            while (number(g, "/sched/timers/fired:timers") < 2) {
                Thread.onSpinWait(); // Counted after the sleeper is readied, which another P may run meanwhile.
            }
            assertEquals(2, number(g, "/sched/timers/fired:timers"));
            assertTrue(number(g, "/sched/parks:events") + number(g, "/sched/netpoll/sleeps:events") > 0);
            assertTrue(histogram(g, "/sched/wakeups/latencies:seconds").count() > 0);
            double total = seconds(g, "/cpu/classes/total:cpu-seconds");
            double idle = seconds(g, "/cpu/classes/idle:cpu-seconds");
            assertTrue(total >= 0.08 && idle > 0 && idle < total, idle + " of " + total);
        }
    }

    @Test
    void stopsAndTakenPs() {
        try (TestGmp g = TestGmp.procs(1)) {
            Scheduler s = g.scheduler();
            long before = histogram(g, "/sched/pauses/total/other:seconds").count();
            for (int i = 0; i < 3; i++) {
                StopTheWorld.withWorldStopped(s, () -> { });
            }
            assertEquals(before + 3, histogram(g, "/sched/pauses/total/other:seconds").count());
            assertEquals(before + 3, histogram(g, "/sched/pauses/stopping/other:seconds").count());
            do { // A thread that the machine puts to sleep loses its P unasked.
                AtomicBoolean runs = new AtomicBoolean();
                AtomicBoolean end = new AtomicBoolean();
                g.go(() -> {
                    runs.set(true);
                    while (!end.get()) {
                        Thread.onSpinWait(); // No point here: the P is taken.
                    }
                });
                while (!runs.get()) {
                    Thread.onSpinWait(); // Or the next one runs first.
                }
                g.run(() -> end.set(true));
            } while (number(g, "/sched/preemptions/asked:events") == 0);
            assertTrue(number(g, "/sched/preemptions/taken:events") + number(g, "/sched/preemptions/yielded:events") > 0);
            g.go(() -> {
                while (number(g, "/sched/syscalls/retaken:events") == 0) {
                    PinningCall.run(() -> nap(Duration.ofMillis(30)));
                }
            });
        }
    }

    /** On a goroutine that is pinned: the thread sleeps. */
    private static void nap(Duration d) {
        try {
            boolean _ = Go.blocking(() -> {
                Thread.sleep(d);
                return true;
            });
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void buckets() {
        long last = -1;
        for (int i = 0; i < Buckets.N; i++) {
            long low = Buckets.lowest(i);
            assertTrue(low > last, "bucket " + i);
            assertEquals(i, Buckets.bucket(low));
            assertEquals(Math.max(0, i - 1), Buckets.bucket(low - 1));
            last = low;
        }
        assertEquals(Buckets.N - 1, Buckets.bucket(Long.MAX_VALUE));
        assertTrue(last > Duration.ofMinutes(30).toNanos());
        double[] bounds = {0, 1, 2, 4, Double.POSITIVE_INFINITY};
        Histogram h = new Histogram(new long[] {1, 2, 0, 1}, bounds);
        assertEquals(4, h.count());
        assertEquals(1, h.quantile(0));
        assertEquals(2, h.quantile(0.5));
        assertEquals(2, h.quantile(0.75));
        assertEquals(4, h.quantile(1));
        assertEquals(0.5 + 3 + 4, h.sum());
        assertEquals(0, new Histogram(new long[4], bounds).quantile(0.99));
        assertThrows(IllegalArgumentException.class, () -> h.quantile(1.1));
    }

    /** Readers beside everything: no counter steps back, and nothing is stopped. */
    @Test
    void cumulativeNumbersOnlyGrow() throws Exception {
        try (TestGmp g = TestGmp.procs(3)) {
            AtomicBoolean end = new AtomicBoolean();
            for (int i = 0; i < 8; i++) {
                g.go(() -> {
                    while (!end.get()) {
                        WaitGroup w = new WaitGroup();
                        for (int k = 0; k < 20; k++) {
                            w.go(Go::gosched);
                        }
                        w.await();
                    }
                });
            }
            Map<String, Object> last = g.gmp.metrics().read();
            for (int i = 0; i < 300; i++) {
                Map<String, Object> now = g.gmp.metrics().read();
                for (Description d : Metrics.all()) {
                    if (d.cumulative()) {
                        assertTrue(weight(now.get(d.name())) >= weight(last.get(d.name())), d.name());
                    }
                }
                last = now;
                if (i % 50 == 0) {
                    int _ = g.gmp.setProcs(2 + i / 50 % 3);
                }
            }
            end.set(true);
        }
    }

    /** Readers that come while it closes have the numbers of a scheduler that is whole, or are refused. */
    @Stress
    void readersWhileItCloses() throws Exception {
        for (int i = 0; i < 20; i++) {
            Gmp gmp = Gmp.builder().procs(1 + i % 7 * 40).build();
            Metrics m = gmp.metrics();
            long procs = gmp.procs();
            Threads threads = new Threads();
            for (int k = 0; k < 2; k++) {
                threads.add("reader", () -> {
                    try {
                        while (true) {
                            Map<String, Object> now = m.read();
                            assertEquals(procs, now.get("/sched/gomaxprocs:threads"));
                            assertEquals(0L, now.get("/sched/steals/moved/total:goroutines"));
                            assertEquals(procs, ((long[][]) now.get("/sched/steals/moved:goroutines")).length);
                        }
                    } catch (IllegalStateException closed) {
                        assertEquals("the Gmp is closed", closed.getMessage());
                    }
                });
            }
            threads.add("closer", gmp::close);
            threads.run();
        }
    }

    /** One that reads when it closes is waited for. */
    @Test
    void aReaderIsWaitedFor() throws Exception {
        Gmp gmp = Gmp.builder().procs(1).build();
        Scheduler s = gmp.call(() -> GStack.current().scheduler());
        assertTrue(s.beginReading());
        Thread closer = Thread.ofPlatform().start(gmp::close);
        while (!s.isStopped()) {
            Thread.onSpinWait();
        }
        closer.join(Duration.ofMillis(100));
        boolean waits = closer.isAlive();
        s.endReading();
        closer.join();
        assertTrue(waits);
        assertFalse(s.beginReading());
    }

    private static double weight(Object value) {
        return switch (value) {
            case Histogram h -> h.count();
            case long[] n -> LongStream.of(n).sum();
            case long[][] n -> Stream.of(n).flatMapToLong(LongStream::of).sum();
            default -> ((Number) value).doubleValue();
        };
    }

    @Test
    void prometheusText() {
        try (TestGmp g = TestGmp.procs(2); TestGmp other = TestGmp.procs(1)) {
            g.run(() -> { });
            String mine = "{scheduler=\"" + g.scheduler().name() + '"';
            String text = Metrics.prometheus();
            assertTrue(text.contains("\ngmp_sched_gomaxprocs_threads" + mine + "} 2\n"), text);
            assertTrue(text.contains("gmp_sched_gomaxprocs_threads{scheduler=\"" + other.scheduler().name() + "\"} 1\n"), text);
            assertTrue(text.contains("# TYPE gmp_sched_goroutines_created_goroutines_total counter\n"), text);
            assertTrue(text.contains("gmp_sched_runqueue_local_goroutines" + mine + ",p=\"1\"} 0\n"), text);
            assertTrue(text.contains("# TYPE gmp_sched_latencies_seconds histogram\n"), text);
            assertTrue(text.contains("gmp_sched_latencies_seconds_bucket" + mine + ",le=\"+Inf\"} "), text);
            for (String line : text.lines().toList()) {
                assertTrue(line.matches("# (HELP|TYPE) [a-z_]+ .*|[a-z_]+(_bucket)?\\{[a-z]+=\"[^\"]*\"(,[a-z]+=\"[^\"]*\")*} [-+.0-9E]+"),
                        line);
            }
            assertFalse(text.contains("NaN"));
        }
        assertEquals(5, Kind.values().length);
    }
}
