// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.Histograms;
import org.gmp4j.bench.report.JsonText;
import org.gmp4j.bench.report.MachineInfo;
import org.gmp4j.bench.report.Page;
import org.gmp4j.bench.report.Table;

/** Results as tables, as text and as JSON. */
final class Reports {
    /** What ours are divided by the others' in tables. */
    private static final List<Metric> RATIOS = List.of(Metric.P50, Metric.P90, Metric.P99, Metric.CPU);

    private Reports() {
    }

    /** Returns the columns of a mix. */
    private static List<Metric> metrics(Mix mix) {
        return List.of(Metric.values()).stream().filter(m -> m != Metric.LONG_P50 || mix == Mix.RARE).toList();
    }

    private static Table figures(Results results, Mix mix) {
        List<String> head = new ArrayList<>(List.of("load", "server"));
        metrics(mix).forEach(m -> head.add(m.title()));
        Table table = new Table(2, head.toArray(String[]::new));
        for (Load load : results.loads(mix)) {
            for (Variant v : results.variants()) {
                List<String> cells = new ArrayList<>(List.of(load.name(), v.name()));
                for (Metric m : metrics(mix)) {
                    cells.add(results.figure(load, v, m)
                            .map(e -> m.text(e.median()))
                            .orElse(m == metrics(mix).getFirst() ? none(results, v) : ""));
                }
                table.row(cells);
            }
        }
        return table;
    }

    private static String none(Results results, Variant v) {
        return results.missing().containsKey(v) ? "not found" : "failed";
    }

    /** Ours divided by others, with intervals. */
    private static Table ratios(Results results, Mix mix) {
        List<String> head = new ArrayList<>(List.of("load", "server", "divided by"));
        RATIOS.forEach(m -> head.add(m.title()));
        Table table = new Table(3, head.toArray(String[]::new));
        for (Load load : results.loads(mix)) {
            for (Variant v : results.variants()) {
                for (Variant other : others(results)) {
                    List<String> cells = new ArrayList<>(List.of(load.name(), v.name(), other.name()));
                    RATIOS.forEach(m -> cells.add(results.ratio(load, v, other, m).map(Estimate::ratio).orElse("")));
                    if (v.isOurs() && cells.stream().skip(3).anyMatch(c -> !c.isEmpty())) {
                        table.row(cells);
                    }
                }
            }
        }
        return table;
    }

    /** Returns the variants that may have figures, without ours. */
    private static List<Variant> others(Results results) {
        return results.variants().stream()
                .filter(v -> !v.isOurs() && !results.missing().containsKey(v))
                .toList();
    }

    /** Returns sentences on failures, missing servers, the client and other processes. */
    static List<String> notes(Results results) {
        List<String> notes = new ArrayList<>();
        results.missing().forEach((v, why) -> notes.add(v.name() + ": " + why + "."));
        for (Load load : results.loads()) {
            for (Variant v : results.variants()) {
                List<String> failures = results.failures(load, v);
                if (!failures.isEmpty()) {
                    int runs = failures.size() + results.rounds(load, v).size();
                    notes.add(load.mix() + ", " + load.name() + ", " + v.name() + ": " + failures.size() + " of " + runs
                            + " runs failed: " + failures.getFirst() + ".");
                }
            }
        }
        if (!results.isEmpty()) {
            notes.add("The client itself was late by at most " + Format.nanos(results.clientLate()) + " at p99 of any run."
                    + " Others (processes, interrupts, the hypervisor) had at most " + Math.round(results.others())
                    + " % of the server's CPU in any run.");
        }
        return notes;
    }

    /** Returns the report for a terminal. */
    static String text(Results results, Settings settings) {
        StringBuilder text = new StringBuilder();
        for (Mix mix : results.mixes()) {
            text.append(mix).append(": ").append(mix.about()).append(". ").append(settings.connections())
                    .append(settings.connections() == 1 ? " connection" : " connections").append(", medians of ")
                    .append(settings.rounds()).append(settings.rounds() == 1 ? " run" : " runs").append(".\n\n");
            text.append(figures(results, mix).text()).append('\n');
            Table ratios = ratios(results, mix);
            if (!ratios.rows().isEmpty()) {
                text.append("Ours divided by theirs, run by run (below 1: we need less).\n\n");
                text.append(ratios.text()).append('\n');
            }
        }
        notes(results).forEach(note -> text.append(note).append('\n'));
        return text.toString();
    }

    /** Returns the results as a page: for each mix pictures of latency against load, all figures, and percentiles as curves. */
    static Page page(Results results, Settings settings) {
        Page page = new Page("A service on gmp4j, the JDK's scheduler and Go").facts(facts(results, settings));
        Pictures pictures = new Pictures(results);
        for (Mix mix : results.mixes()) {
            page.heading(mix.toString()).paragraphs(List.of(mix.about() + "."));
            page.pictures(pictures.againstLoad(mix)).table(figures(results, mix));
            Table ratios = ratios(results, mix);
            if (!ratios.rows().isEmpty()) {
                page.paragraphs(List.of("Ours divided by theirs (below 1: we need less):")).table(ratios);
            }
            page.charts(mix + ": percentiles", pictures.percentiles(mix));
        }
        return page.heading("How it is measured").paragraphs(notes(results)).paragraphs(how(settings));
    }

    /** Returns machine, date, versions and command by name, for people. */
    static Map<String, String> facts(Results results, Settings settings) {
        Map<String, String> facts = MachineInfo.here().facts();
        facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        results.versions().forEach((peer, version) -> facts.put(peer.key(), version));
        results.missing().forEach((v, why) -> facts.put(v.name(), why));
        facts.put("command", settings.command());
        return facts;
    }

    /** Returns the method of measurement, in paragraphs. */
    static List<String> how(Settings settings) {
        int rounds = settings.rounds();
        String turns = rounds == 1 ? "Each server runs once. A ratio is of two such runs."
                : """
                The servers take turns, and then again from the first on, %d times. A figure is the median of these runs, a ratio
                that of two that ran in the same turn%s.
                """.formatted(rounds, Estimate.brackets(rounds, "run"));
        String burn = settings.burn() ? """
                Beside the server another process uses all the CPU it gets, at the same priority. One more runs beside the
                client, which has nice -20 where that is permitted against its 19, so that the server is measured.""" : "";
        return List.of("""
                The server has the first of the CPUs, the client the last; both are processes of their own, started anew for
                each run. %s""".formatted(turns), """
                The client opens %d connections, and sends as a Poisson process does, %s s to warm up the server and %s s
                that count; it never sleeps, and has warmed up against an echo of its own. Latency is from the moment when a
                request was meant to be sent, so what waits for a free connection counts. A load is the CPU that the requests
                ask for, of one CPU; what kernel and runtime need for each request comes on top, so that with short requests
                the server is full long before 100 %%. Light is 4 %%."""
                .formatted(settings.connections(), Format.plain(settings.warmup()), Format.plain(settings.seconds())), """
                Each server has a virtual thread or goroutine for each connection, which reads eight bytes from a plain
                socket, that of net from one of org.gmp4j.net, runs a loop for as many nanoseconds as they say, and writes them back. \
                Each measures first how fast its
                loop is on its CPU. The JDK's server runs without an agent, ours with the agent and points=%s, and Go's with
                GOMAXPROCS of 1; the JVMs have no other options, and on one CPU they take the serial collector. CPU is what the server
                used, in its own code and in the kernel, divided by the requests; switches are the kernel's from thread to
                thread, divided by the requests too, of threads that live at the end; Ms are threads that run goroutines or
                virtual threads, of Go all.""".formatted(settings.points()), burn)
                .stream().map(text -> text.strip().replaceAll("\\s+", " ")).filter(text -> !text.isEmpty()).toList();
    }

    /** Returns the report as JSON. */
    static String json(Results results, Settings settings) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("machine", MachineInfo.here().json());
        Map<String, Object> how = new LinkedHashMap<>();
        how.put("command", settings.command());
        how.put("connections", settings.connections());
        how.put("warmup_seconds", settings.warmup());
        how.put("seconds", settings.seconds());
        how.put("runs", settings.rounds());
        how.put("points", settings.points());
        how.put("burn", settings.burn());
        how.put("confidence", Estimate.confidence(settings.rounds()));
        all.put("settings", how);
        Map<String, Object> versions = new LinkedHashMap<>();
        results.versions().forEach((peer, version) -> versions.put(peer.key(), version));
        all.put("versions", versions);
        all.put("notes", notes(results));
        List<Object> medians = new ArrayList<>();
        List<Object> runs = new ArrayList<>();
        for (Load load : results.loads()) {
            for (Variant v : results.variants()) {
                medians.add(medians(results, load, v));
                results.rounds(load, v).forEach((round, f) -> runs.add(run(load, v, round, f)));
            }
        }
        all.put("medians", medians);
        all.put("runs", runs);
        return JsonText.of(all);
    }

    private static Map<String, Object> head(Load load, Variant v) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("mix", load.mix().toString());
        o.put("load", load.name());
        o.put("load_percent", JsonText.digits(load.percent()));
        o.put("requests_per_second", JsonText.digits(load.rate()));
        o.put("scheduler", v.name());
        o.put("peer", v.peer().key());
        return o;
    }

    private static Map<String, Object> medians(Results results, Load load, Variant v) {
        Map<String, Object> o = head(load, v);
        Map<String, Object> intervals = new LinkedHashMap<>();
        Map<String, Object> ratios = new LinkedHashMap<>();
        Map<String, Object> ratioIntervals = new LinkedHashMap<>();
        for (Metric m : metrics(load.mix())) {
            Optional<Estimate> figure = results.figure(load, v, m);
            o.put(m.key(), figure.map(e -> JsonText.digits(e.median())).orElse(null));
            figure.ifPresent(e -> intervals.put(m.key(), e.interval()));
        }
        for (Variant other : others(results)) {
            if (!other.equals(v)) {
                Map<String, Object> of = new LinkedHashMap<>();
                Map<String, Object> ofIntervals = new LinkedHashMap<>();
                metrics(load.mix()).forEach(m -> results.ratio(load, v, other, m).ifPresent(e -> {
                    of.put(m.key(), JsonText.digits(e.median()));
                    ofIntervals.put(m.key(), e.interval());
                }));
                ratios.put(other.name(), of);
                ratioIntervals.put(other.name(), ofIntervals);
            }
        }
        o.put("intervals", intervals);
        o.put("ratios", ratios);
        o.put("ratio_intervals", ratioIntervals);
        o.put("failures", results.failures(load, v));
        o.put("missing", results.missing().get(v));
        return o;
    }

    private static Map<String, Object> run(Load load, Variant v, int round, Figures f) {
        Map<String, Object> o = head(load, v);
        o.put("round", round);
        for (Metric m : metrics(load.mix())) {
            double value = m.of(f);
            o.put(m.key(), Double.isFinite(value) ? JsonText.digits(value) : null);
        }
        o.put("answered", f.tally().answered());
        o.put("queued", f.tally().queued());
        o.put("cpu_seconds", f.cpuSeconds());
        o.put("cpu_user_seconds", f.use().user());
        o.put("cpu_system_seconds", f.use().system());
        o.put("voluntary_switches", f.use().voluntary());
        o.put("involuntary_switches", f.use().involuntary());
        o.put("rounds_per_nano", f.roundsPerNano());
        o.put("client_nice", f.clientNice());
        o.put("others_percent", JsonText.digits(f.othersPercent()));
        o.put("client_late_p99_ns", f.tally().late().getValueAtPercentile(99));
        o.put("histogram", Histograms.encode(f.tally().shorts()));
        o.put("long_histogram", Histograms.encode(f.tally().longs()));
        return o;
    }
}
