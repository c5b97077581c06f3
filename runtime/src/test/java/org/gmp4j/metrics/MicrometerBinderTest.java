// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.junit.jupiter.api.Test;

/** The binder of Micrometer, with Micrometer. */
class MicrometerBinderTest {
    private static final int GOROUTINES = 7;

    private static FunctionCounter counter(SimpleMeterRegistry registry, String name) {
        return registry.get(name).functionCounter();
    }

    private static void start(Gmp gmp, int n, Chan<Integer> gate) throws InterruptedException {
        CountDownLatch waiting = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            gmp.go(() -> {
                waiting.countDown();
                Integer _ = gate.recv();
            });
        }
        waiting.await();
    }

    @Test
    void numbers() throws InterruptedException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Gmp gmp = Gmp.builder().procs(3).name("shop").build();
                MicrometerBinder binder = new MicrometerBinder(gmp.metrics(), List.of(Tag.of("site", "a")))) {
            Chan<Integer> gate = Chan.make(0);
            start(gmp, GOROUTINES, gate);
            binder.bindTo(registry);
            assertEquals(3, registry.get("gmp.sched.gomaxprocs").tag("scheduler", "shop").tag("site", "a").gauge().value());
            assertEquals(GOROUTINES, registry.get("gmp.sched.goroutines").gauge().value());
            assertEquals("goroutines", registry.get("gmp.sched.goroutines").gauge().getId().getBaseUnit());
            assertEquals(GOROUTINES, counter(registry, "gmp.sched.goroutines.created").count());
            assertTrue(counter(registry, "gmp.cpu.classes.total").count() > 0);
            assertEquals(Set.of("0", "1", "2"), registry.get("gmp.sched.runs.by.p").functionCounters().stream()
                    .map(c -> c.getId().getTag("p")).collect(java.util.stream.Collectors.toCollection(TreeSet::new)));
            assertTrue(registry.get("gmp.sched.runs.by.p").functionCounters().stream().mapToDouble(FunctionCounter::count).sum()
                    >= GOROUTINES);
            gate.close();
        }
    }

    /** What is read at once is of one reading; a later one is of another. */
    @Test
    void numbersMove() throws InterruptedException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Gmp gmp = Gmp.builder().procs(2).build(); MicrometerBinder binder = new MicrometerBinder(gmp.metrics())) {
            binder.bindTo(registry);
            gmp.run(() -> { });
            Chan<Integer> gate = Chan.make(0);
            start(gmp, GOROUTINES, gate);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (counter(registry, "gmp.sched.goroutines.created").count() != GOROUTINES + 1) {
                assertTrue(System.nanoTime() < end, () -> "still " + counter(registry, "gmp.sched.goroutines.created").count());
                Thread.sleep(10);
            }
            gate.close();
        }
    }

    @Test
    void histograms() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Gmp gmp = Gmp.builder().procs(1).build(); MicrometerBinder binder = new MicrometerBinder(gmp.metrics())) {
            int stops = 5;
            for (int i = 0; i < stops; i++) {
                int _ = gmp.setProcs(1 + i % 2);
            }
            binder.bindTo(registry);
            FunctionTimer pauses = registry.get("gmp.sched.pauses.total.other").functionTimer();
            assertEquals(stops, pauses.count());
            assertTrue(pauses.totalTime(TimeUnit.NANOSECONDS) > 0);
            assertEquals(stops, registry.get("gmp.sched.pauses.total.other.bucket").tag("le", "+Inf").functionCounter().count());
            double before = 0;
            for (double bound : Sampled.bounds()) {
                double below = registry.get("gmp.sched.pauses.total.other.bucket").tag("le", Sampled.text(bound)).functionCounter().count();
                assertTrue(below >= before, before + " and then " + below);
                before = below;
            }
        }
    }

    /** The name of each metric is one of its own, as Micrometer wants them: the same name with other tags would be refused by some. */
    @Test
    void namesDiffer() {
        Set<String> names = new TreeSet<>();
        for (Description d : Metrics.all()) {
            assertTrue(names.add(Sampled.name(d)), Sampled.name(d));
            assertTrue(Sampled.name(d).matches("gmp(\\.[a-z]+)+"), Sampled.name(d));
        }
        assertTrue(names.size() > 40, names.size() + " names");
    }

    @Test
    void ofAClosedScheduler() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Gmp gmp = Gmp.builder().procs(1).build();
        MicrometerBinder binder = new MicrometerBinder(gmp.metrics());
        binder.bindTo(registry);
        gmp.run(() -> { });
        gmp.close();
        assertEquals(Double.NaN, registry.get("gmp.sched.gomaxprocs").gauge().value());
        assertTrue(counter(registry, "gmp.cpu.classes.total").count() > 0);
        binder.close();
        assertEquals(List.of(), registry.getMeters().stream().map(Meter::getId).toList());
    }
}
