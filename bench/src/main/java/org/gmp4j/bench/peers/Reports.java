// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.JsonText;
import org.gmp4j.bench.report.MachineInfo;
import org.gmp4j.bench.report.Page;
import org.gmp4j.bench.report.Table;

/** Results as text and as JSON. */
final class Reports {
    private Reports() {
    }

    /** What is done to a row of the results. */
    interface Each {
        void row(Catalogue.Work work, Catalogue.Row row);
    }

    /** Calls {@code each} for all rows, in order. */
    static void each(Results results, Each each) {
        for (Catalogue.Work work : results.works()) {
            for (Catalogue.Row row : work.rows()) {
                each.row(work, row);
            }
        }
    }

    /** Lists the rows, and the peers that fill them. */
    static Table list(List<Catalogue.Work> works) {
        Table table = new Table(4, "row", "Ps", "what", "who");
        each(new Results(works), (work, row) -> table.row(List.of(row.name(), Integer.toString(work.procs()), row.title(),
                String.join(" ", work.peers().stream().map(Peer::key).toList()))));
        return table;
    }

    /** Returns a figure with its unit. */
    static String figure(String unit, double v) {
        return switch (unit) {
            case "ns" -> Format.nanos(v);
            case "bytes" -> Format.count(Math.round(v)) + " B";
            default -> Format.decimals(v, 2) + " " + unit;
        };
    }

    /** Returns the peers that took part, without ours. */
    static List<Peer> others(Results results) {
        return results.versions().keySet().stream().filter(p -> p != Peer.GMP4J).toList();
    }

    /** Returns one work's medians, for people. */
    static String line(Results results, Catalogue.Work work) {
        List<String> parts = new ArrayList<>();
        for (Catalogue.Row row : work.rows()) {
            List<String> figures = new ArrayList<>();
            for (Peer peer : results.versions().keySet()) {
                String cell = cell(results, work, row, peer);
                if (!cell.isEmpty()) {
                    figures.add(peer.key() + " " + cell);
                }
            }
            parts.add(row.name() + ": " + String.join(", ", figures));
        }
        return String.join("; ", parts);
    }

    /** Returns a figure, or the reason why there is none, or nothing. */
    static String cell(Results results, Catalogue.Work work, Catalogue.Row row, Peer peer) {
        return results.figure(work, row, peer)
                .map(f -> figure(row.unit(), f.median()))
                .orElse(results.note(work, row, peer));
    }

    /** Returns the report for a terminal. */
    static String text(Results results) {
        Table table = table(results, false, Peer::key);
        return "Medians, and ours divided by the peer's (below 1: we need less), with the interval over the forks.\n\n" + table.text()
                + "\nOthers (processes, interrupts, the hypervisor) " + results.others().text() + ".\n";
    }

    /** Returns the results as a page: the ratios as a picture, then all figures. */
    static Page page(Results results, PeersCommand.Settings settings) {
        return new Page("gmp4j beside Go, the JDK and Kotlin")
                .facts(facts(results, settings))
                .picture(new RatioPlot(results).svg())
                .heading("Figures")
                .table(table(results, true, Peer::title))
                .heading("How it is measured")
                .paragraphs(how(settings));
    }

    /** Makes a table of medians, and for each peer of the ratio with its interval; with {@code titles} also of the rows' titles. */
    private static Table table(Results results, boolean titles, Function<Peer, String> name) {
        List<String> head = new ArrayList<>(titles ? List.of("row", "what", "gmp4j") : List.of("row", "gmp4j"));
        for (Peer peer : others(results)) {
            head.addAll(List.of(name.apply(peer), "ratio"));
        }
        Table table = new Table(titles ? 2 : 1, head.toArray(String[]::new));
        each(results, (work, row) -> {
            List<String> cells = new ArrayList<>(titles ? List.of(row.name(), row.title()) : List.of(row.name()));
            cells.add(cell(results, work, row, Peer.GMP4J));
            for (Peer peer : others(results)) {
                cells.add(cell(results, work, row, peer));
                cells.add(results.ratio(work, row, peer).map(Estimate::ratio).orElse(""));
            }
            table.row(cells);
        });
        return table;
    }

    /** Returns machine, date, versions and command by name, for people. */
    static Map<String, String> facts(Results results, PeersCommand.Settings settings) {
        Map<String, String> facts = MachineInfo.here().facts();
        facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        results.versions().forEach((peer, version) -> facts.put(peer.title(), version));
        facts.put("others", results.others().text());
        facts.put("command", "gmp peers --forks " + settings.forks() + " --warmup " + Format.plain(settings.warmUp())
                + " --seconds " + Format.plain(settings.seconds())
                + (settings.patterns().isEmpty() ? "" : " " + String.join(" ", settings.patterns())));
        return facts;
    }

    /** Returns the method of measurement, in paragraphs. */
    static List<String> how(PeersCommand.Settings settings) {
        return List.of("""
                Each work runs in processes of its own, one for each peer, and then again from the first peer on, %d times
                (forks). A process warms up, runs the work several times, and its figure is the median of these runs, or a
                percentile of single waits. A cell is the median over the forks. A ratio is the median of ours divided by the
                peer's that ran in the same turn%s. Less is better everywhere."""
                .formatted(settings.forks(), Estimate.brackets(settings.forks(), "fork")), """
                All that run on a JVM have its default collector and the same options. The number of Ps is GOMAXPROCS for Go,
                the parallelism of the JDK's scheduler, and the core pool of Kotlin's Dispatchers.Default; platform threads
                have all CPUs always. Ours run with the flags of 'gmp run', and with the agent for hogs alone, where
                preemption points matter: any Java agent makes HotSpot announce each switch of virtual threads, ours and the
                JDK's.""", """
                spin=latency is SpinPolicy.latency of 5 ms, spin=go the default; the other columns of such rows are the same
                figures twice, and so with quantum=1ms, where the others have what they have. 'never' means that the work was
                ended from outside after that time. The JDK has no select, and no timer that can be reset: it cancels and
                schedules anew. A timer in Kotlin is a coroutine in delay. QuestDB's fibers are in no release on Maven
                Central, up to 9.3.4.""")
                .stream().map(text -> text.strip().replaceAll("\\s+", " ")).toList();
    }

    /** Returns the report as JSON. */
    static String json(Results results, PeersCommand.Settings settings) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("machine", MachineInfo.here().json());
        Map<String, Object> how = new LinkedHashMap<>();
        how.put("forks", settings.forks());
        how.put("warmup_seconds", settings.warmUp());
        how.put("seconds", settings.seconds());
        how.put("confidence", Estimate.confidence(settings.forks()));
        all.put("settings", how);
        all.put("others", results.others().json());
        Map<String, Object> versions = new LinkedHashMap<>();
        results.versions().forEach((peer, version) -> versions.put(peer.key(), version));
        all.put("versions", versions);
        List<Object> rows = new ArrayList<>();
        each(results, (work, row) -> rows.add(row(results, work, row)));
        all.put("rows", rows);
        return JsonText.of(all);
    }

    private static Map<String, Object> row(Results results, Catalogue.Work work, Catalogue.Row row) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("work", row.name());
        o.put("what", row.title());
        o.put("procs", work.procs());
        o.put("unit", row.unit());
        o.put("better", "lower");
        Map<String, Object> intervals = new LinkedHashMap<>();
        Map<String, Object> ratios = new LinkedHashMap<>();
        Map<String, Object> ratioIntervals = new LinkedHashMap<>();
        Map<String, Object> notes = new LinkedHashMap<>();
        for (Peer peer : Peer.values()) {
            Optional<Estimate> figure = results.figure(work, row, peer);
            o.put(peer.key(), figure.map(f -> JsonText.digits(f.median())).orElse(null));
            figure.ifPresent(f -> intervals.put(peer.key(), f.interval()));
            if (peer != Peer.GMP4J) {
                results.ratio(work, row, peer).ifPresent(r -> {
                    ratios.put(peer.key(), JsonText.digits(r.median()));
                    ratioIntervals.put(peer.key(), r.interval());
                });
            }
            if (!results.note(work, row, peer).isEmpty()) {
                notes.put(peer.key(), results.note(work, row, peer));
            }
        }
        o.put("intervals", intervals);
        o.put("ratios", ratios);
        o.put("ratio_intervals", ratioIntervals);
        o.put("notes", notes);
        return o;
    }
}
