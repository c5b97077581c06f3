// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.BatchCallback;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableDoubleMeasurement;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import io.opentelemetry.api.metrics.ObservableMeasurement;

/**
 * Registers all metrics of a scheduler as instruments of OpenTelemetry. Only this class needs the API ({@code opentelemetry-api}) among the
 * program's libraries. {@code /sched/runs/local:goroutines} is the instrument {@code gmp.sched.runs.local} of the meter {@code org.gmp4j},
 * with the unit <code>{goroutines}</code> and the attribute {@code scheduler}:
 *
 * <table>
 * <caption>Instruments</caption>
 * <tr><th>metric</th><th>instrument</th></tr>
 * <tr><td>cumulative</td><td>an observable counter; seconds have the unit {@code s}</td></tr>
 * <tr><td>current value</td><td>an observable up-down counter</td></tr>
 * <tr><td>histogram</td><td>observable counters {@code .count}, {@code .sum}, an estimate, and {@code .bucket}, of the values below a
 * bound, which is the attribute {@code le}, in seconds. The bounds are 1,024 ns times powers of 4, up to 17 s, and infinity</td></tr>
 * <tr><td>by P</td><td>one of the instruments above, with the attribute {@code p}</td></tr>
 * <tr><td>by pair of Ps</td><td>one of the instruments above, with the attributes {@code thief} and {@code victim}, for pairs with at least
 * one steal</td></tr>
 * </table>
 *
 * <p>All numbers of a collection are from one reading, which stops no thread. A closed scheduler reports no numbers. Thread-safe.
 */
public final class OpenTelemetryBinder implements AutoCloseable {
    private static final AttributeKey<String> SCHEDULER = AttributeKey.stringKey("scheduler");
    private static final AttributeKey<String> LE = AttributeKey.stringKey("le");
    private static final AttributeKey<Long> P = AttributeKey.longKey("p");
    private static final AttributeKey<Long> THIEF = AttributeKey.longKey("thief");
    private static final AttributeKey<Long> VICTIM = AttributeKey.longKey("victim");

    private record Counter(String metric, ObservableLongMeasurement instrument) {
    }

    private record Seconds(String metric, ObservableDoubleMeasurement instrument) {
    }

    private record Distribution(String metric, ObservableLongMeasurement count, ObservableDoubleMeasurement sum,
            ObservableLongMeasurement bucket) {
    }

    private final Metrics metrics;
    private final Attributes scheduler;
    private final Meter meter;
    private final List<Counter> counters = new ArrayList<>();
    private final List<Seconds> seconds = new ArrayList<>();
    private final List<Distribution> distributions = new ArrayList<>();
    private final List<ObservableMeasurement> instruments = new ArrayList<>();
    private final BatchCallback callback;

    private OpenTelemetryBinder(Metrics metrics, OpenTelemetry to) {
        this.metrics = metrics;
        scheduler = Attributes.of(SCHEDULER, metrics.scheduler());
        meter = to.getMeter("org.gmp4j");
        for (Description d : Metrics.all()) {
            String name = Sampled.name(d);
            switch (d.kind()) {
                case DOUBLE -> seconds.add(new Seconds(d.name(), secondsOf(name, d.help())));
                case HISTOGRAM -> distributions.add(new Distribution(d.name(), counter(name + ".count", d.help(), "{values}"),
                        secondsOf(name + ".sum", d.help()), counter(name + ".bucket", d.help(), "{values}")));
                case LONG, BY_P, BY_PAIR -> counters.add(new Counter(d.name(), d.cumulative()
                        ? counter(name, d.help(), '{' + d.unit() + '}') : upDown(name, d.help(), '{' + d.unit() + '}')));
            }
        }
        ObservableMeasurement[] rest = instruments.subList(1, instruments.size()).toArray(ObservableMeasurement[]::new);
        callback = meter.batchCallback(this::observe, instruments.get(0), rest);
    }

    /**
     * Lets OpenTelemetry read the metrics of a scheduler, until {@link #close}.
     *
     * @param metrics {@code Gmp.metrics()}
     * @param to the API to register with, such as {@code GlobalOpenTelemetry.get()}
     */
    public static OpenTelemetryBinder bind(Metrics metrics, OpenTelemetry to) {
        return new OpenTelemetryBinder(metrics, to);
    }

    private ObservableLongMeasurement counter(String name, String help, String unit) {
        ObservableLongMeasurement m = meter.counterBuilder(name).setDescription(help).setUnit(unit).buildObserver();
        instruments.add(m);
        return m;
    }

    private ObservableLongMeasurement upDown(String name, String help, String unit) {
        ObservableLongMeasurement m = meter.upDownCounterBuilder(name).setDescription(help).setUnit(unit).buildObserver();
        instruments.add(m);
        return m;
    }

    private ObservableDoubleMeasurement secondsOf(String name, String help) {
        ObservableDoubleMeasurement m = meter.counterBuilder(name).ofDoubles().setDescription(help).setUnit("s").buildObserver();
        instruments.add(m);
        return m;
    }

    private void observe() {
        Map<String, Object> values;
        try {
            values = metrics.read();
        } catch (IllegalStateException closed) {
            return;
        }
        for (Counter c : counters) {
            switch (value(values, c.metric)) {
                case long[] byP -> {
                    for (int p = 0; p < byP.length; p++) {
                        c.instrument.record(byP[p], scheduler.toBuilder().put(P, (long) p).build());
                    }
                }
                case long[][] byPair -> pairs(c.instrument, byPair);
                case Object n -> c.instrument.record((long) n, scheduler);
            }
        }
        for (Seconds s : seconds) {
            s.instrument.record((double) value(values, s.metric), scheduler);
        }
        for (Distribution d : distributions) {
            Histogram h = (Histogram) value(values, d.metric);
            d.count.record(h.count(), scheduler);
            d.sum.record(h.sum(), scheduler);
            for (double bound : Sampled.bounds()) {
                d.bucket.record(h.below(bound), scheduler.toBuilder().put(LE, Sampled.text(bound)).build());
            }
        }
    }

    @SuppressWarnings("NullAway") // A binder has only instruments of existing metrics.
    private static Object value(Map<String, Object> values, String metric) {
        return values.get(metric);
    }

    private void pairs(ObservableLongMeasurement instrument, long[][] stolen) {
        for (int thief = 0; thief < stolen.length; thief++) {
            for (int victim = 0; victim < stolen[thief].length; victim++) {
                if (stolen[thief][victim] != 0) {
                    instrument.record(stolen[thief][victim],
                            scheduler.toBuilder().put(THIEF, (long) thief).put(VICTIM, (long) victim).build());
                }
            }
        }
    }

    /** Stops OpenTelemetry from reading the metrics. Further calls do nothing. */
    @Override
    public void close() {
        callback.close();
    }
}
