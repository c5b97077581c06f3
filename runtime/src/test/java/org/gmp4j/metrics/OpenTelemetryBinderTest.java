// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.InstrumentType;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.CollectionRegistration;
import io.opentelemetry.sdk.metrics.export.MetricReader;
import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.junit.jupiter.api.Test;

/** The binder of OpenTelemetry, with its SDK. */
class OpenTelemetryBinderTest {
    private static final int GOROUTINES = 7;

    /** Reads when it is asked. */
    private static final class Reader implements MetricReader {
        private CollectionRegistration from = CollectionRegistration.noop();

        @Override
        public void register(CollectionRegistration registration) {
            from = registration;
        }

        /** By name what there is. */
        Map<String, MetricData> read() {
            Map<String, MetricData> all = new TreeMap<>();
            for (MetricData m : from.collectAllMetrics()) {
                assertEquals(null, all.put(m.getName(), m), m.getName());
            }
            return all;
        }

        @Override
        public CompletableResultCode forceFlush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public AggregationTemporality getAggregationTemporality(InstrumentType type) {
            return AggregationTemporality.CUMULATIVE;
        }
    }

    private final Reader reader = new Reader();
    private final SdkMeterProvider sdk = SdkMeterProvider.builder().registerMetricReader(reader).build();
    private final OpenTelemetry telemetry = new OpenTelemetry() {
        @Override
        public MeterProvider getMeterProvider() {
            return sdk;
        }

        @Override
        public TracerProvider getTracerProvider() {
            return TracerProvider.noop();
        }

        @Override
        public ContextPropagators getPropagators() {
            return ContextPropagators.noop();
        }
    };

    private static long only(Map<String, MetricData> all, String name) {
        LongPointData p = all.get(name).getLongSumData().getPoints().iterator().next();
        assertEquals("shop", p.getAttributes().get(AttributeKey.stringKey("scheduler")), name);
        return p.getValue();
    }

    @Test
    void numbers() throws InterruptedException {
        try (Gmp gmp = Gmp.builder().procs(3).name("shop").build();
                OpenTelemetryBinder _ = OpenTelemetryBinder.bind(gmp.metrics(), telemetry)) {
            Chan<Integer> gate = Chan.make(0);
            CountDownLatch waiting = new CountDownLatch(GOROUTINES);
            for (int i = 0; i < GOROUTINES; i++) {
                gmp.go(() -> {
                    waiting.countDown();
                    Integer _ = gate.recv();
                });
            }
            waiting.await();
            Map<String, MetricData> all = reader.read();
            assertEquals(3, only(all, "gmp.sched.gomaxprocs"));
            assertEquals(GOROUTINES, only(all, "gmp.sched.goroutines"));
            assertEquals(GOROUTINES, only(all, "gmp.sched.goroutines.created"));
            assertEquals("{goroutines}", all.get("gmp.sched.goroutines").getUnit());
            assertTrue(all.get("gmp.sched.goroutines.created").getLongSumData().isMonotonic());
            assertTrue(!all.get("gmp.sched.goroutines").getLongSumData().isMonotonic());
            assertEquals("s", all.get("gmp.cpu.classes.total").getUnit());
            DoublePointData total = all.get("gmp.cpu.classes.total").getDoubleSumData().getPoints().iterator().next();
            assertTrue(total.getValue() > 0);
            assertEquals(3, all.get("gmp.sched.runs.by.p").getLongSumData().getPoints().stream()
                    .map(p -> p.getAttributes().get(AttributeKey.longKey("p"))).distinct().count());
            assertTrue(all.get("gmp.sched.runs.by.p").getLongSumData().getPoints().stream().mapToLong(LongPointData::getValue).sum()
                    >= GOROUTINES);
            gate.close();
        }
    }

    @Test
    void histograms() {
        try (Gmp gmp = Gmp.builder().procs(1).name("shop").build();
                OpenTelemetryBinder _ = OpenTelemetryBinder.bind(gmp.metrics(), telemetry)) {
            int stops = 5;
            for (int i = 0; i < stops; i++) {
                int _ = gmp.setProcs(1 + i % 2);
            }
            Map<String, MetricData> all = reader.read();
            assertEquals(stops, only(all, "gmp.sched.pauses.total.other.count"));
            assertTrue(all.get("gmp.sched.pauses.total.other.sum").getDoubleSumData().getPoints().iterator().next().getValue() > 0);
            Map<String, Long> buckets = new TreeMap<>();
            all.get("gmp.sched.pauses.total.other.bucket").getLongSumData().getPoints()
                    .forEach(p -> buckets.put(p.getAttributes().get(AttributeKey.stringKey("le")), p.getValue()));
            assertEquals(Sampled.bounds().length, buckets.size());
            assertEquals(stops, buckets.get("+Inf"));
        }
    }

    /** Each metric is there, except those by pair without a steal. */
    @Test
    void all() {
        try (Gmp gmp = Gmp.builder().procs(1).name("shop").build();
                OpenTelemetryBinder _ = OpenTelemetryBinder.bind(gmp.metrics(), telemetry)) {
            Map<String, MetricData> all = reader.read();
            for (Description d : Metrics.all()) {
                String name = Sampled.name(d) + (d.kind() == Description.Kind.HISTOGRAM ? ".count" : "");
                assertEquals(d.kind() != Description.Kind.BY_PAIR, all.containsKey(name), name);
            }
        }
    }

    /** A scheduler that is closed is left out, and so is one that is not to be read any more; others go on. */
    @Test
    void theEnd() {
        Gmp closed = Gmp.builder().procs(1).build();
        OpenTelemetryBinder ofClosed = OpenTelemetryBinder.bind(closed.metrics(), telemetry);
        try (Gmp gmp = Gmp.builder().procs(2).name("shop").build()) {
            OpenTelemetryBinder binder = OpenTelemetryBinder.bind(gmp.metrics(), telemetry);
            closed.close();
            assertEquals(2, only(reader.read(), "gmp.sched.gomaxprocs"));
            assertEquals(1, reader.read().get("gmp.sched.gomaxprocs").getLongSumData().getPoints().size());
            binder.close();
            assertEquals(Map.of(), reader.read());
        }
        ofClosed.close();
    }
}
