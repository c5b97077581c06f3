// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.gmp4j.bench.measure.IdleCpu;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.MachineInfo;
import org.gmp4j.bench.report.Table;

/** The parts of a report that text and page have in common. */
final class Tables {
    /** Stands before a percentile that too few samples lie beyond. */
    static final String FEW = "~";

    private static final String[] PERCENTILES = {"p50", "p90", "p99", "p99.9", "p99.99"};

    private Tables() {
    }

    /** Returns the machine and the settings, as names and values. */
    static Map<String, String> facts(Report report) {
        MachineInfo m = report.machine();
        Settings s = report.settings();
        Map<String, String> facts = m.facts();
        facts.put(
                "pinning",
                s.pinning() + "; owner and thief ran on CPU " + report.ownerCpu() + " and " + report.thiefCpu());
        facts.put(
                "settings",
                s.procs() + " Ps; spin " + s.spinNames() + "; at most " + Format.count(s.samples())
                        + " samples a run and " + Format.seconds(s.nanos()) + " s in all, after "
                        + Format.decimals(report.warmUpNanos() / 1e9, 1) + " s of warm-up");
        facts.put(
                "clock",
                "nanoTime on " + m.clocksource() + ": one reading costs " + report.clock().costNanos()
                        + " ns, least step seen " + report.clock().stepNanos() + " ns");
        facts.put("others", report.others().text());
        return facts;
    }

    /** Makes the table of ring operations beside C. */
    static Table floors(Report report) {
        Table table = new Table(1, "operation", "Java", "C11", "Java/C", "slices");
        table.row(floor("push + pop", report.pushpop()));
        for (Result r : report.of(Run.Kind.STEAL)) {
            if (r.floor() != null) {
                table.row(floor(r.run().batch() == 0 ? "failed probe" : "steal " + r.run().batch(), r.floor()));
            }
        }
        return table;
    }

    private static List<String> floor(String name, Floor f) {
        return List.of(
                name,
                Format.nanos(f.javaNanos()),
                Format.nanos(f.cNanos()),
                Format.decimals(f.ratio(), 2),
                Format.count(f.slices()));
    }

    /** Makes the table of steals. */
    static Table steals(Report report) {
        Table table = new Table(2, head(new String[] {"steal", "victim"}, "max"));
        for (Result r : report.of(Run.Kind.STEAL)) {
            List<String> row = new ArrayList<>();
            row.add(r.run().batch() == 0 ? "failed probe" : Integer.toString(r.run().batch()));
            row.add(r.run().victim());
            table.row(figures(row, r));
        }
        return table;
    }

    /** Makes the table of wake-ups and hand-offs. */
    static Table wakes(Report report) {
        Table table = new Table(3, head(new String[] {"kind", "spin", "gap"}, "max", "p99 c.", "p99.9 c."));
        for (Run.Kind kind : new Run.Kind[] {Run.Kind.WAKE, Run.Kind.HANDOFF}) {
            for (Result r : report.of(kind)) {
                List<String> row = new ArrayList<>();
                row.add(kind.toString());
                row.add(r.run().spinName());
                row.add(Format.gap(r.run().gapNanos()));
                figures(row, r);
                if (r.correctable()) {
                    Result c = r.corrected();
                    row.add(mark(r, 99) + Format.nanos(c.at(99)));
                    row.add(mark(r, 99.9) + Format.nanos(c.at(99.9)));
                } else {
                    row.add("-");
                    row.add("-");
                }
                table.row(row);
            }
        }
        return table;
    }

    private static String[] head(String[] first, String... last) {
        List<String> head = new ArrayList<>(List.of(first));
        head.add("samples");
        head.addAll(List.of(PERCENTILES));
        head.addAll(List.of(last));
        return head.toArray(String[]::new);
    }

    private static List<String> figures(List<String> row, Result r) {
        row.add(Format.count(r.samples()));
        for (double p : Result.PERCENTILES) {
            row.add(mark(r, p) + Format.nanos(r.at(p)));
        }
        row.add(Format.nanos(r.max()));
        return row;
    }

    private static String mark(Result r, double percentile) {
        return r.supports(percentile) ? "" : FEW;
    }

    /** Makes the table of CPU use while idle. */
    static Table idle(Report report) {
        Table table = new Table(1, "spin", "CPU while idle", "watched");
        for (IdleCpu i : report.idle()) {
            table.row(List.of(
                    i.spinName(), Format.decimals(i.percent(), 1) + " %", Format.seconds(i.nanos()) + " s"));
        }
        return table;
    }
}
