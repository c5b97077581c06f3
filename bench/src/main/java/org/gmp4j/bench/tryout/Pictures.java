// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.report.Chart;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.LogChart;

/** The pictures of the results: latency by time since the port answered, and percentiles as curves. */
final class Pictures {
    private static final List<String> STYLES = List.of("s1", "s0", "s2", "s3", "b3", "b0", "b1", "b4", "b2");
    private static final int MOST_TICKS = 10;

    private final Results results;
    private final Settings settings;

    Pictures(Results results, Settings settings) {
        this.results = results;
        this.settings = settings;
    }

    /** Draws latency by time since the port answered. */
    List<LogChart> byTime() {
        return List.of(byTime("half of the requests took less (p50)", 50), byTime("one request in a hundred took more (p99)", 99));
    }

    /** Draws the percentiles of the young service, and of the warm one. */
    List<LogChart> percentiles() {
        LogChart young = percentiles(Figure.young(settings), Tape::young);
        return settings.hasWarm() ? List.of(young, percentiles(Figure.WARM, Tape::warm)) : List.of(young);
    }

    private String style(Variant v) {
        return STYLES.get(results.variants().indexOf(v) % STYLES.size());
    }

    /** Draws the median of the turns, for each slot. */
    private LogChart byTime(String title, int percentile) {
        LogChart chart = new LogChart(title, "latency by seconds since the port answered: " + title, ticks());
        for (Variant v : results.variants()) {
            List<LogChart.Point> points = new ArrayList<>();
            List<LogChart.Mark> marks = new ArrayList<>();
            for (int i = 0; i < results.turns(v).getFirst().tape().slots().size(); i++) {
                int slot = i;
                List<Double> values = results.turns(v).stream()
                        .map(t -> t.tape().slots().get(slot))
                        .filter(h -> h.getTotalCount() > 0)
                        .map(h -> (double) h.getValueAtPercentile(percentile))
                        .toList();
                if (!values.isEmpty()) {
                    Estimate e = Estimate.of(values);
                    LogChart.Point at = new LogChart.Point((i + 0.5) * Tape.SLOT_SECONDS, e.median());
                    points.add(at);
                    marks.add(new LogChart.Mark(at, e.low(), e.high(), false,
                            v.name() + " after " + Format.plain(i * Tape.SLOT_SECONDS) + " s: " + e.text(Format::nanos)));
                }
            }
            if (!points.isEmpty()) {
                chart.add(v.name(), style(v), points, marks);
            }
        }
        return chart;
    }

    private List<LogChart.Tick> ticks() {
        int step = (int) Math.ceil(settings.seconds() / MOST_TICKS);
        List<LogChart.Tick> ticks = new ArrayList<>();
        for (int at = 0; at < settings.seconds(); at += step) {
            ticks.add(new LogChart.Tick(at, at + " s"));
        }
        ticks.add(new LogChart.Tick(settings.seconds(), Format.plain(settings.seconds()) + " s"));
        return ticks;
    }

    private LogChart percentiles(String part, Function<Tape, Histogram> of) {
        Chart chart = new Chart(part + ": latency");
        for (Variant v : results.variants()) {
            Histogram h = results.latencies(v, of);
            if (h.getTotalCount() > 0) {
                chart.add(v.name(), style(v), h, 1);
            }
        }
        return chart.chart();
    }
}
