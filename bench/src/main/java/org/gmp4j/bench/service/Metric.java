// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.util.function.ToDoubleFunction;

import org.gmp4j.bench.report.Format;

/** A figure of a run, as a column. */
enum Metric {
    P50("p50", "p50_ns", f -> percentile(f, 50)),
    P90("p90", "p90_ns", f -> percentile(f, 90)),
    P99("p99", "p99_ns", f -> percentile(f, 99)),
    P999("p99.9", "p999_ns", f -> percentile(f, 99.9)),
    MAX("longest", "max_ns", f -> f.tally().shorts().getMaxValue()),
    LONG_P50("5 ms: p50", "long_p50_ns", f -> f.tally().longs().getTotalCount() == 0 ? Double.NaN
            : f.tally().longs().getValueAtPercentile(50)),
    CPU("CPU/request", "cpu_ns_per_request", Figures::cpuNanos),
    SWITCHES("switches", "switches_per_request", Figures::switches),
    ANSWERED("answers/s", "answered_per_second", f -> f.tally().answered() / f.tally().took()),
    CARRIERS("Ms", "carriers", f -> f.use().carriers()),
    THREADS("threads", "threads", f -> f.use().threads());

    private final String title;
    private final String key;
    private final ToDoubleFunction<Figures> figure;

    Metric(String title, String key, ToDoubleFunction<Figures> figure) {
        this.title = title;
        this.key = key;
        this.figure = figure;
    }

    private static double percentile(Figures f, double percentile) {
        return f.tally().shorts().getValueAtPercentile(percentile);
    }

    /** Returns the name for people. */
    String title() {
        return title;
    }

    /** Returns the name in files. */
    String key() {
        return key;
    }

    /** Returns the metric of one run. */
    double of(Figures figures) {
        return figure.applyAsDouble(figures);
    }

    /** Returns the value with its unit. */
    String text(double v) {
        return switch (this) {
            case SWITCHES -> Format.decimals(v, 2);
            case ANSWERED -> Format.count(Math.round(v));
            case CARRIERS, THREADS -> Format.plain(v);
            default -> Format.nanos(v);
        };
    }
}
