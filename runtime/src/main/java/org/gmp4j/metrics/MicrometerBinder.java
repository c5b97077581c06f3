// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Registers all metrics of a scheduler as meters of Micrometer. Only this class needs Micrometer ({@code micrometer-core}) among the
 * program's libraries. {@code /sched/runs/local:goroutines} is the meter {@code gmp.sched.runs.local} with the base unit {@code goroutines}
 * and the tag {@code scheduler}:
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>metric</th><th>meter</th></tr>
 * <tr><td>cumulative</td><td>a function counter</td></tr>
 * <tr><td>current value</td><td>a gauge</td></tr>
 * <tr><td>histogram</td><td>a function timer, whose total is an estimate, and function counters {@code .bucket} of the values
 * below a bound, which is the tag {@code le}, in seconds. The bounds are 1,024 ns times powers of 4, up to 17 s, and infinity</td></tr>
 * <tr><td>by P</td><td>a meter for each P that existed when the binder was bound, with the tag {@code p}</td></tr>
 * <tr><td>by pair of Ps</td><td>none: see {@link Metrics#prometheus()}, or {@link OpenTelemetryBinder}</td></tr>
 * </table>
 *
 * <p>A reading stops no thread. Meters that are read within 0.1 s get numbers from the same reading. When the scheduler is closed, gauges
 * are not a number (NaN), and counters keep their last values. Thread-safe; it may be bound to several registries.
 */
public final class MicrometerBinder implements MeterBinder, AutoCloseable {
    private final Sampled sampled;
    private final Tags tags;
    private final Map<MeterRegistry, List<Meter>> bound = new HashMap<>(); // Guarded by the monitor.

    /** Makes a binder for one scheduler's {@code Gmp.metrics()}. */
    public MicrometerBinder(Metrics metrics) {
        this(metrics, Tags.empty());
    }

    /**
     * Makes a binder whose meters have further tags.
     *
     * @param tags the tags of all meters besides {@code scheduler}
     */
    public MicrometerBinder(Metrics metrics, Iterable<Tag> tags) {
        sampled = new Sampled(metrics);
        this.tags = Tags.of("scheduler", metrics.scheduler()).and(tags);
    }

    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        List<Meter> made = bound.computeIfAbsent(registry, r -> new ArrayList<>());
        for (Description d : Metrics.all()) {
            String metric = d.name();
            switch (d.kind()) {
                case LONG, DOUBLE -> made.add(meter(registry, d, tags,
                        d.cumulative() ? s -> s.counted(metric) : s -> s.now(metric)));
                case BY_P -> {
                    int procs = sampled.values().get(metric) instanceof long[] byP ? byP.length : 0;
                    for (int i = 0; i < procs; i++) {
                        int p = i;
                        made.add(meter(registry, d, tags.and("p", Integer.toString(p)),
                                d.cumulative() ? s -> s.counted(metric, p) : s -> s.now(metric, p)));
                    }
                }
                case HISTOGRAM -> histogram(registry, made, d);
                case BY_PAIR -> { }
            }
        }
    }

    private Meter meter(MeterRegistry registry, Description d, Tags with, ToDoubleFunction<Sampled> read) {
        // The registry refers to the object by a weak reference. The function that reads it keeps it alive.
        Sampled s = sampled;
        ToDoubleFunction<Sampled> kept = weak -> read.applyAsDouble(s);
        return d.cumulative()
                ? FunctionCounter.builder(Sampled.name(d), s, kept).tags(with).description(d.help()).baseUnit(d.unit())
                        .register(registry)
                : Gauge.builder(Sampled.name(d), s, kept).tags(with).description(d.help()).baseUnit(d.unit()).strongReference(true)
                        .register(registry);
    }

    private void histogram(MeterRegistry registry, List<Meter> made, Description d) {
        String metric = d.name();
        Sampled s = sampled;
        made.add(FunctionTimer.builder(Sampled.name(d), s, weak -> count(s, metric, Double.POSITIVE_INFINITY),
                weak -> sum(s, metric), TimeUnit.SECONDS)
                .tags(tags).description(d.help()).register(registry));
        for (double bound : Sampled.bounds()) {
            made.add(FunctionCounter.builder(Sampled.name(d) + ".bucket", s, weak -> count(s, metric, bound))
                    .tags(tags.and("le", Sampled.text(bound))).description(d.help()).register(registry));
        }
    }

    private static long count(Sampled s, String metric, double bound) {
        Histogram h = s.histogram(metric);
        return h == null ? 0 : h.below(bound);
    }

    private static double sum(Sampled s, String metric) {
        Histogram h = s.histogram(metric);
        return h == null ? 0 : h.sum();
    }

    /** Removes all meters that this binder registered. */
    @Override
    public synchronized void close() {
        bound.forEach((registry, meters) -> meters.forEach(registry::remove));
        bound.clear();
    }
}
