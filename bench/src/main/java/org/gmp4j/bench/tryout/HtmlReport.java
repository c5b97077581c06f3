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
import org.gmp4j.bench.report.Page;

/** The results as one page: latency by time since the port answered, percentiles as curves, then all figures. */
final class HtmlReport {
    private static final List<String> STYLES = List.of("s1", "s0", "s2", "s3", "b3", "b0", "b1", "b4", "b2");
    private static final int MOST_TICKS = 10;

    private final Results results;
    private final Settings settings;
    private final StringBuilder page = new StringBuilder(Page.top("gmp try"));

    private HtmlReport(Results results, Settings settings) {
        this.results = results;
        this.settings = settings;
    }

    static String write(Results results, Settings settings) {
        return new HtmlReport(results, settings).write();
    }

    private String write() {
        page.append("<p class=\"lead\">").append(Page.escape(String.join(" ", Reports.outcome(results, settings)))).append("</p>\n");
        Page.facts(page, Reports.facts(results, settings));
        Page.heading(page, "Latency by time since the port answered");
        page.append("<div class=\"charts\">\n");
        page.append(LogChart.together(List.of(byTime("half of the requests took less (p50)", 50),
                byTime("one request in a hundred took more (p99)", 99))));
        page.append("</div>\n");
        Page.heading(page, "Percentiles");
        page.append("<div class=\"charts\">\n");
        List<LogChart> charts = new ArrayList<>(List.of(percentiles(Figure.young(settings), Tape::young)));
        if (settings.hasWarm()) {
            charts.add(percentiles(Figure.WARM, Tape::warm));
        }
        page.append(LogChart.together(charts)).append("</div>\n");
        Reports.figures(results, settings).forEach(part -> {
            Page.heading(page, part.title());
            Page.table(page, part.table());
        });
        Page.heading(page, "Divided by " + results.first().name());
        Page.table(page, Reports.ratios(results, settings));
        Page.heading(page, "How it is measured");
        paragraphs(Reports.notes(results));
        paragraphs(Reports.how(settings));
        return page.append(Page.BOTTOM).toString();
    }

    private void paragraphs(List<String> all) {
        all.forEach(p -> page.append("<p>").append(Page.escape(p)).append("</p>\n"));
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
