// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import org.gmp4j.bench.report.Chart;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.LogChart;
import org.gmp4j.bench.report.Page;

/** The report as one page that needs nothing else: well-formed, readable on light and on dark ground, no scripts. */
final class HtmlReport {
    private HtmlReport() {
    }

    static String write(Report report) {
        StringBuilder page = new StringBuilder(Page.top("gmp steal"));
        page.append("<p class=\"lead\">What it costs to steal goroutines, to wake another P, and to hand a value to a"
                + " goroutine there.</p>\n");
        Page.facts(page, Tables.facts(report));
        steals(page, report);
        wakes(page, report);
        Page.heading(page, Texts.IDLE);
        Page.table(page, Tables.idle(report));
        Page.heading(page, "How the samples are taken");
        for (Texts.Paragraph p : Texts.all(report)) {
            page.append("<h3>").append(Page.escape(p.title())).append("</h3>\n<p>");
            page.append(Page.escape(p.text())).append("</p>\n");
        }
        return page.append(Page.BOTTOM).toString();
    }

    private static void steals(StringBuilder page, Report report) {
        Page.heading(page, Texts.STEALS);
        page.append("<div class=\"charts\">\n");
        List<LogChart> charts = new ArrayList<>();
        for (boolean other : new boolean[] {false, true}) {
            Chart chart = new Chart(other ? "Victim on another CPU" : "Victim on the same CPU (means of sixteen)");
            List<Result> runs = select(report, Run.Kind.STEAL, r -> r.run().otherCpu() == other);
            for (int i = 0; i < runs.size(); i++) {
                Result r = runs.get(i);
                int batch = r.run().batch();
                chart.add(batch == 0 ? "probe" : "steal " + batch, "b" + i, r.histogram(), r.operations());
            }
            charts.add(chart.chart());
        }
        page.append(LogChart.together(charts)).append("</div>\n");
        Page.table(page, Tables.steals(report));
        Page.heading(page, Texts.FLOORS);
        Page.table(page, Tables.floors(report));
    }

    private static void wakes(StringBuilder page, Report report) {
        Page.heading(page, Texts.WAKES);
        page.append("<div class=\"charts\">\n");
        List<LogChart> charts = new ArrayList<>();
        for (Run.Kind kind : new Run.Kind[] {Run.Kind.WAKE, Run.Kind.HANDOFF}) {
            for (long gap : report.of(kind).stream().mapToLong(r -> r.run().gapNanos()).distinct().toArray()) {
                Chart chart = new Chart((kind == Run.Kind.WAKE ? "Wake, gap " : "Handoff, gap ") + Format.gap(gap));
                List<Result> runs = select(report, kind, r -> r.run().gapNanos() == gap);
                for (int i = 0; i < runs.size(); i++) {
                    Result r = runs.get(i);
                    chart.add(r.run().spinName(), "s" + i, r.histogram(), r.operations());
                }
                charts.add(chart.chart());
            }
        }
        page.append(LogChart.together(charts)).append("</div>\n");
        Page.table(page, Tables.wakes(report));
    }

    private static List<Result> select(Report report, Run.Kind kind, Predicate<Result> which) {
        return report.of(kind).stream().filter(which).toList();
    }
}
