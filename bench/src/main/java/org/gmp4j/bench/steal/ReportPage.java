// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import org.gmp4j.bench.report.Chart;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.LogChart;
import org.gmp4j.bench.report.Page;

/** The report as a page. */
final class ReportPage {
    private ReportPage() {
    }

    static Page of(Report report) {
        Page page = new Page("gmp steal")
                .lead("What it costs to steal goroutines, to wake another P, and to hand a value to a goroutine there.")
                .facts(Tables.facts(report))
                .heading(Texts.STEALS).charts(steals(report)).table(Tables.steals(report))
                .heading(Texts.FLOORS).table(Tables.floors(report))
                .heading(Texts.WAKES).charts(wakes(report)).table(Tables.wakes(report))
                .heading(Texts.IDLE).table(Tables.idle(report))
                .heading("How the samples are taken");
        Texts.all(report).forEach(p -> page.subheading(p.title()).paragraphs(List.of(p.text())));
        return page;
    }

    private static List<LogChart> steals(Report report) {
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
        return charts;
    }

    private static List<LogChart> wakes(Report report) {
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
        return charts;
    }

    private static List<Result> select(Report report, Run.Kind kind, Predicate<Result> which) {
        return report.of(kind).stream().filter(which).toList();
    }
}
