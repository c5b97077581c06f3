// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.simulate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.LogChart;
import org.gmp4j.bench.report.Page;
import org.gmp4j.bench.report.Svg;
import org.gmp4j.bench.report.Table;
import org.gmp4j.queue.Places;

/** What the simulations came to: tables, a map for JSON, a page. */
record SimulationReport(String machine, Topology topology, Affinity affinity, int runs, List<Simulation> all) {
    /** A resource that is busy for so many percent of the time, as the tables have them, is what others wait for. */
    private static final long LIMIT = 50;

    static final String LEFT_OUT = "The rings, the global queue, the idle lists, the masks and the steal walk are the runtime's own code. "
            + "When an M looks, spins and sleeps is told again here. Left out: races within a step (each sees the others as they are when "
            + "it begins), caches and memory of the goroutines' own work, so that a steal from afar costs no more after it than one "
            + "nearby; timers, network, preemption, sysmon; interrupts, the kernel's scheduler, frequencies; and traffic between sockets, "
            + "of which each line here has all it wants. What a step takes is assumed, not measured on that machine. So compare orders "
            + "and numbers of Ps with each other; do not take the times for a forecast.";

    private static final String LIFTS_LOCK = " What would lift it: a list of the global queue for each node, with a lock of its own, or"
            + " takes of several goroutines at once.";
    private static final String LIFTS_WORD = " What would lift it: a count of spinners for each node.";
    private static final String LIFTS_CHAIN = ": a thread that is woken wakes the next one once it has found work. What would lift it:"
            + " that whoever queues many goroutines wakes several threads, or that each that is woken wakes two before it looks.";

    private static String name(Object o) {
        return o.toString().toLowerCase(Locale.ROOT);
    }

    private String heading() {
        return machine + ", " + topology.cpus().size() + " CPUs in " + topology.nodes().size() + " nodes, " + affinity + ", "
                + (runs == 1 ? "one run each" : "medians of " + runs + " runs");
    }

    private List<Simulation> of(Simulation.Work work) {
        return all.stream().filter(s -> s.work() == work).toList();
    }

    private Table table(Simulation.Work work) {
        List<String> head = new ArrayList<>(List.of(name(work), "Ps", "done", "half ran", "steals", "probes a steal"));
        for (Places.Distance d : Places.Distance.values()) {
            head.add(name(d));
        }
        head.addAll(List.of("lock busy", "wait for it", "spinners' word busy", "wake-ups"));
        Table table = new Table(1, head.toArray(String[]::new));
        for (Simulation s : of(work)) {
            List<String> row = new ArrayList<>(List.of(name(s.order()), Format.count(s.procs()), Format.nanos(s.doneNanos()),
                    Double.isFinite(s.spreadNanos()) ? Format.nanos(s.spreadNanos()) : "never", Format.count((long) s.steals()),
                    s.steals() == 0 ? "" : Format.decimals(s.probes() / s.steals(), 1)));
            for (double share : s.over()) {
                row.add(percent(share));
            }
            row.addAll(List.of(percent(s.lockBusy()), Format.nanos(s.lockWaitNanos()), percent(s.wordBusy()),
                    Format.count((long) s.wakeups())));
            table.row(row);
        }
        return table;
    }

    private static String percent(double share) {
        return Format.decimals(100 * share, share > 0 && share < 0.1 ? 1 : 0) + "%";
    }

    /** Says from which number of Ps on sched.lock, the spinners' word or the chain of wake-ups is the limit, and what would lift it. */
    List<String> limits() {
        List<String> sentences = new ArrayList<>();
        for (Simulation.Work work : Simulation.Work.values()) {
            sentences.add(limit(work, "sched.lock", Simulation::lockBusy, LIFTS_LOCK));
            sentences.add(limit(work, "the spinners' word", Simulation::wordBusy, LIFTS_WORD));
            of(work).stream().filter(s -> s.order() == StealOrder.UNIFORM && !Double.isFinite(s.spreadNanos())).findFirst()
                    .ifPresent(s -> sentences.add(name(work) + ", uniform: from " + Format.count(s.procs())
                            + " Ps on all is done before half of them have run anything" + LIFTS_CHAIN));
        }
        return sentences;
    }

    private String limit(Simulation.Work work, String what, ToDoubleFunction<Simulation> busy, String lifts) {
        return of(work).stream()
                .filter(s -> s.order() == StealOrder.UNIFORM && Math.round(100 * busy.applyAsDouble(s)) >= LIMIT)
                .findFirst()
                .map(s -> name(work) + ", uniform: " + what + " is busy for half of the time or more from "
                        + Format.count(s.procs()) + " Ps on." + lifts)
                .orElse(name(work) + ", uniform: " + what + " is busy for at most "
                        + percent(of(work).stream().filter(s -> s.order() == StealOrder.UNIFORM).mapToDouble(busy).max().orElse(0))
                        + " of the time.");
    }

    String text() {
        StringBuilder t = new StringBuilder(heading()).append("\n\n");
        for (Simulation.Work work : Simulation.Work.values()) {
            t.append(table(work).text()).append('\n');
        }
        limits().forEach(s -> t.append(s).append('\n'));
        return t.append('\n').append(LEFT_OUT).append('\n').toString();
    }

    Map<String, Object> json() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("machine", machine);
        map.put("affinity", affinity.toString());
        map.put("runs", runs);
        map.put("nanos", Costs.all());
        List<Object> results = new ArrayList<>();
        for (Simulation s : all) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("work", name(s.work()));
            one.put("procs", s.procs());
            one.put("order", s.order().toString());
            one.put("doneNanos", s.doneNanos());
            one.put("spreadNanos", s.spreadNanos());
            one.put("steals", s.steals());
            one.put("probes", s.probes());
            Map<String, Object> over = new LinkedHashMap<>();
            for (Places.Distance d : Places.Distance.values()) {
                over.put(name(d), s.over()[d.ordinal()]);
            }
            one.put("over", over);
            one.put("lockBusy", s.lockBusy());
            one.put("lockWaitNanos", s.lockWaitNanos());
            one.put("spinnersWordBusy", s.wordBusy());
            one.put("wakeups", s.wakeups());
            results.add(one);
        }
        map.put("results", results);
        map.put("limits", limits());
        map.put("leftOut", LEFT_OUT);
        return map;
    }

    String html() {
        Page page = new Page("gmp simulate").lead(heading());
        for (Simulation.Work work : Simulation.Work.values()) {
            StringBuilder pictures = new StringBuilder();
            if (of(work).stream().map(Simulation::procs).distinct().count() > 1) { // Of a single number of Ps the table tells as much.
                pictures.append(chart(work, "until all is done", Simulation::doneNanos));
                pictures.append(chart(work, "until half of the Ps ran something", Simulation::spreadNanos));
                pictures.append(chart(work, "mean wait for sched.lock", s -> Math.max(1, s.lockWaitNanos())));
            }
            page.heading(name(work)).pictures(pictures + bars(work)).table(table(work));
        }
        return page.heading("Limits").paragraphs(limits())
                .heading("What the model leaves out").paragraphs(List.of(LEFT_OUT, "Assumed, in nanoseconds: " + Costs.all().entrySet()
                        .stream().map(e -> e.getKey() + " " + e.getValue()).collect(Collectors.joining("; ")) + "."))
                .html();
    }

    private String chart(Simulation.Work work, String title, ToDoubleFunction<Simulation> figure) {
        List<LogChart.Tick> ticks = of(work).stream().map(Simulation::procs).distinct()
                .map(n -> new LogChart.Tick(Math.log(n), Integer.toString(n))).toList();
        LogChart chart = new LogChart(title, name(work) + ": " + title + ", by the number of Ps", ticks);
        for (StealOrder order : StealOrder.values()) {
            List<LogChart.Point> points = new ArrayList<>();
            List<LogChart.Mark> marks = new ArrayList<>();
            for (Simulation s : of(work)) {
                if (s.order() == order) {
                    double v = figure.applyAsDouble(s);
                    if (!Double.isFinite(v)) {
                        continue;
                    }
                    LogChart.Point at = new LogChart.Point(Math.log(s.procs()), v);
                    points.add(at);
                    marks.add(new LogChart.Mark(at, v, v, true, order + ", " + s.procs() + " Ps: " + Format.nanos(v)));
                }
            }
            if (points.isEmpty()) {
                return "";
            }
            chart.add(order.toString(), "s" + order.ordinal(), points, marks);
        }
        return chart.svg();
    }

    /** Shares of goroutines stolen over each distance, a bar for each number of Ps and order. */
    private String bars(Simulation.Work work) {
        int left = 120;
        int width = 420;
        int line = 16;
        List<Simulation> rows = of(work);
        Svg svg = new Svg(560, 46 + rows.size() * line, name(work) + ": goroutines stolen, by distance");
        svg.text("t", 10, 18, "goroutines stolen, by distance");
        for (Places.Distance d : Places.Distance.values()) {
            int x = left + d.ordinal() * 80;
            svg.add("<line class=\"%s\" stroke-width=\"9\" style=\"stroke-dasharray:none\" x1=\"%d\" x2=\"%d\" y1=\"32\" y2=\"32\"/>",
                    style(d), x, x + 12);
            svg.text("a", x + 16, 36, name(d));
        }
        for (int i = 0; i < rows.size(); i++) {
            Simulation s = rows.get(i);
            int y = 52 + i * line;
            svg.text("a e", left - 8, y + 4, s.procs() + " Ps, " + s.order());
            double x = left;
            for (Places.Distance d : Places.Distance.values()) {
                double share = s.over()[d.ordinal()];
                if (share > 0) {
                    svg.add("<line class=\"%s\" stroke-width=\"11\" style=\"stroke-dasharray:none\" "
                            + "x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"><title>%s</title></line>\n", style(d),
                            x, x + share * width, y, y,
                            Page.escape(s.procs() + " Ps, " + s.order() + ", " + name(d) + ": " + percent(share)));
                }
                x += share * width;
            }
        }
        return svg.toString();
    }

    private static String style(Places.Distance d) {
        return "b" + (Places.DISTANCES - 1 - d.ordinal());
    }
}
