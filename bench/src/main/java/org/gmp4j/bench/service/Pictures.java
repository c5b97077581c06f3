// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.report.Chart;
import org.gmp4j.bench.report.LogChart;

/** The pictures of the results: latency and CPU against load, and percentiles as curves. */
final class Pictures {
    private static final List<Metric> LATENCIES = List.of(Metric.P50, Metric.P90, Metric.P99);

    /** Of ours, by their number; one alone has the first. */
    private static final List<String> OURS = List.of("s0", "b1", "b3", "b4", "s3", "b0", "b2");

    /** Names of loads that are nearer to each other, of the whole picture, would touch. */
    private static final double TOUCH = 0.09;

    private final Results results;

    Pictures(Results results) {
        this.results = results;
    }

    /** Draws the latencies of a mix against load, with the same decades, and the CPU. */
    String againstLoad(Mix mix) {
        String latencies = LogChart.together(LATENCIES.stream().flatMap(metric -> againstLoad(mix, metric).stream()).toList());
        return latencies + againstLoad(mix, Metric.CPU).map(LogChart::svg).orElse("");
    }

    /** Draws the percentiles of a mix, a chart for each load. */
    List<LogChart> percentiles(Mix mix) {
        return results.loads(mix).stream().flatMap(load -> percentiles(load).stream()).toList();
    }

    private String style(Variant v) {
        return switch (v.peer()) {
            case JDK -> "s1";
            case GO -> "s2";
            case GMP4J, NET -> {
                List<Variant> ours = results.variants().stream().filter(Variant::isOurs).toList();
                yield ours.size() == 1 ? OURS.getFirst() : OURS.get(1 + ours.indexOf(v) % (OURS.size() - 1));
            }
        };
    }

    private Optional<LogChart> againstLoad(Mix mix, Metric metric) {
        List<Load> loads = results.loads(mix).stream().sorted(Comparator.comparingDouble(Load::rate)).toList();
        String title = metric == Metric.CPU ? "CPU a request, by load" : metric.title() + " of latency, by load";
        LogChart chart = new LogChart(title, mix + ": " + title, ticks(loads));
        boolean any = false;
        for (Variant v : results.variants()) {
            List<LogChart.Point> points = new ArrayList<>();
            List<LogChart.Mark> marks = new ArrayList<>();
            for (Load load : loads) {
                results.figure(load, v, metric).ifPresent(e -> {
                    points.add(new LogChart.Point(load.percent(), e.median()));
                    marks.add(mark(v, load, metric, e));
                });
            }
            if (!points.isEmpty()) {
                chart.add(v.name(), style(v), points, marks);
                any = true;
            }
        }
        return any ? Optional.of(chart) : Optional.empty();
    }

    private static LogChart.Mark mark(Variant v, Load load, Metric metric, Estimate e) {
        String tip = v.name() + ", " + load.name() + ": " + metric.text(e.median());
        return new LogChart.Mark(new LogChart.Point(load.percent(), e.median()), e.low(), e.high(), true, tip);
    }

    private static List<LogChart.Tick> ticks(List<Load> loads) {
        double width = loads.getLast().percent() - loads.getFirst().percent();
        List<LogChart.Tick> ticks = new ArrayList<>();
        double named = Double.NEGATIVE_INFINITY;
        for (Load load : loads) {
            boolean fits = load.percent() - named >= TOUCH * width;
            ticks.add(new LogChart.Tick(load.percent(), fits ? load.name() : ""));
            named = fits ? load.percent() : named;
        }
        return ticks;
    }

    private Optional<LogChart> percentiles(Load load) {
        Chart chart = new Chart(load.mix() + ", " + load.name() + ": latency");
        boolean any = false;
        for (Variant v : results.variants()) {
            Histogram h = results.latencies(load, v);
            if (h.getTotalCount() > 0) {
                chart.add(v.name(), style(v), h, 1);
                any = true;
            }
        }
        return any ? Optional.of(chart.chart()) : Optional.empty();
    }
}
