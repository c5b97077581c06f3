// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.resp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.MachineInfo;
import org.gmp4j.bench.report.Page;
import org.gmp4j.bench.report.Table;

/** What the runs found, and its tables. For one thread. */
final class RespResults {
    private record Key(RespLoad load, RespServer server) {
    }

    private final List<RespLoad> loads;
    private final List<RespServer> servers;
    /** By round; null where a run failed. */
    private final Map<Key, List<RespFigures>> figures = new LinkedHashMap<>();
    private final List<String> notes = new ArrayList<>();

    RespResults(List<RespLoad> loads, List<RespServer> servers) {
        this.loads = List.copyOf(loads);
        this.servers = List.copyOf(servers);
    }

    void add(RespLoad load, RespServer server, RespFigures f) {
        figures.computeIfAbsent(new Key(load, server), _ -> new ArrayList<>()).add(f);
    }

    /** Fills up after a turn in which this load has no figures. */
    void pad(RespLoad load, RespServer server, int turns) {
        while (of(load, server).size() < turns) {
            add(load, server, null);
        }
    }

    /** Adds a sentence on something that is not in the tables. */
    void note(String sentence) {
        notes.add(sentence);
    }

    boolean isEmpty() {
        return figures.values().stream().allMatch(all -> all.stream().allMatch(f -> f == null));
    }

    private List<String> notes() {
        List<String> all = new ArrayList<>(notes);
        figures.values().stream().flatMap(List::stream).filter(f -> f != null).mapToDouble(RespFigures::others).max()
                .ifPresent(most -> all.add("Others (processes, interrupts, the hypervisor) had at most " + Math.round(most)
                        + " % of the server's CPU in any run."));
        return all;
    }

    private List<RespFigures> of(RespLoad load, RespServer server) {
        return figures.getOrDefault(new Key(load, server), List.of());
    }

    private Table medians() {
        Table table = new Table(3, "pipeline", "command", "server", "requests/s", "p50", "p99", "CPU/request");
        for (RespLoad load : loads) {
            for (RespServer s : servers) {
                List<RespFigures> found = of(load, s).stream().filter(f -> f != null).toList();
                if (!found.isEmpty()) {
                    table.row(List.of("" + load.pipeline(), load.test(), s.title(),
                            Format.count(Math.round(median(found, RespFigures::perSecond))),
                            Format.nanos(median(found, RespFigures::p50)), Format.nanos(median(found, RespFigures::p99)),
                            Format.nanos(median(found, RespFigures::cpu))));
                }
            }
        }
        return table;
    }

    private static double median(List<RespFigures> found, ToDoubleFunction<RespFigures> figure) {
        return Estimate.median(found.stream().mapToDouble(figure).toArray());
    }

    private Table ratios() {
        Table table = new Table(4, "pipeline", "command", "server", "divided by", "requests/s", "p99", "CPU/request");
        for (RespLoad load : loads) {
            for (RespServer ours : servers) {
                for (RespServer other : servers) {
                    if (ours.isOurs() && !other.isOurs()) {
                        List<RespFigures[]> pairs = pairs(of(load, ours), of(load, other));
                        if (!pairs.isEmpty()) {
                            table.row(List.of("" + load.pipeline(), load.test(), ours.title(), other.title(),
                                    ratio(pairs, RespFigures::perSecond), ratio(pairs, RespFigures::p99),
                                    ratio(pairs, RespFigures::cpu)));
                        }
                    }
                }
            }
        }
        return table;
    }

    private static List<RespFigures[]> pairs(List<RespFigures> ours, List<RespFigures> theirs) {
        List<RespFigures[]> pairs = new ArrayList<>();
        for (int i = 0; i < Math.min(ours.size(), theirs.size()); i++) {
            if (ours.get(i) != null && theirs.get(i) != null) {
                pairs.add(new RespFigures[] {ours.get(i), theirs.get(i)});
            }
        }
        return pairs;
    }

    private static String ratio(List<RespFigures[]> pairs, ToDoubleFunction<RespFigures> figure) {
        return Estimate.of(pairs.stream().map(p -> figure.applyAsDouble(p[0]) / figure.applyAsDouble(p[1])).toList()).ratio();
    }

    /** Returns the report for a terminal. */
    String text() {
        StringBuilder text = new StringBuilder(medians().text());
        Table ratios = ratios();
        if (!ratios.rows().isEmpty()) {
            text.append("\nOurs divided by theirs, turn by turn.\n\n").append(ratios.text());
        }
        notes().forEach(n -> text.append('\n').append(n).append('\n'));
        return text.toString();
    }

    /** Returns the results as a page. */
    Page page(Map<String, String> settings, String how) {
        Map<String, String> facts = MachineInfo.here().facts();
        facts.putAll(settings);
        Page page = new Page("A server of Redis' protocol on gmp4j, the JDK's scheduler and Go")
                .facts(facts)
                .heading("Figures").table(medians());
        Table ratios = ratios();
        if (!ratios.rows().isEmpty()) {
            page.paragraphs(List.of("Ours divided by theirs, turn by turn:")).table(ratios);
        }
        return page.heading("How it is measured").paragraphs(List.of(how)).paragraphs(notes());
    }
}
