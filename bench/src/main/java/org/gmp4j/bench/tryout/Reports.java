// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.report.Cpus;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.Histograms;
import org.gmp4j.bench.report.JsonText;
import org.gmp4j.bench.report.MachineInfo;
import org.gmp4j.bench.report.Page;
import org.gmp4j.bench.report.Table;
import org.gmp4j.bench.report.Verdict;

/** Results as tables, sentences, text and JSON. */
final class Reports {
    private static final long LATE_NANOS = 1_000_000;
    private static final double CLIENT_BUSY = 0.9;
    private static final double BUSY_PERCENT = 10;

    private Reports() {
    }

    /** A part of the figures: a row for each variant. */
    record Part(String title, Table table) {
    }

    /** Medians with intervals. What has the same columns is one table. */
    static List<Part> figures(Results results, Settings settings) {
        List<Figure> all = Figure.all(settings);
        List<Part> parts = new ArrayList<>();
        parts.add(new Part("Start", table(results, of(all, Figure.START))));
        Table latencies = new Table(2, "latency, " + Format.plain(settings.rate()) + " requests/s", "started with", "p50", "p90", "p99",
                "max");
        for (String part : all.stream().map(Figure::part).distinct().toList()) {
            List<Figure> percentiles = of(all, part).stream().filter(f -> !f.title().startsWith("CPU")).toList();
            if (percentiles.size() == 4 && !part.equals(Figure.START)) {
                results.variants().forEach(v -> latencies.row(row(List.of(part, v.name()), results, v, percentiles)));
            }
        }
        parts.add(new Part("Latency", latencies));
        if (settings.saturates()) {
            parts.add(new Part("At full load", table(results, of(all, Figure.FULL))));
        }
        List<Figure> process = new ArrayList<>(all.stream().filter(f -> f.part().equals(Figure.WARM) && f.title().startsWith("CPU"))
                .toList());
        process.addAll(of(all, Figure.PROCESS));
        parts.add(new Part("Warm process", table(results, process)));
        return parts;
    }

    private static List<Figure> of(List<Figure> all, String part) {
        return all.stream().filter(f -> f.part().equals(part)).toList();
    }

    private static Table table(Results results, List<Figure> figures) {
        List<String> head = new ArrayList<>(List.of("started with"));
        figures.forEach(f -> head.add(f.title()));
        Table table = new Table(1, head.toArray(String[]::new));
        results.variants().forEach(v -> table.row(row(List.of(v.name()), results, v, figures)));
        return table;
    }

    private static List<String> row(List<String> words, Results results, Variant v, List<Figure> figures) {
        List<String> cells = new ArrayList<>(words);
        figures.forEach(f -> cells.add(results.figure(v, f).map(e -> e.text(f::text) + never(results.turns(v).size() - e.forks(),
                e.forks()))
                .orElse("never")));
        return cells;
    }

    /** Returns the text for turns without a value, as of a service that does not settle. */
    private static String never(int never, int others) {
        return never == 0 ? "" : ", never in " + never + " of " + (never + others);
    }

    /** Returns the ratios of each variant to the first; with enough turns also the noise and a verdict. */
    static Table ratios(Results results, Settings settings) {
        String first = results.first().name();
        List<String> head = new ArrayList<>(List.of("divided by " + first, "figure", "ratio"));
        if (isJudged(settings)) {
            head.addAll(List.of(first + " by its median", "verdict"));
        }
        Table table = new Table(2, head.toArray(String[]::new));
        for (Variant v : results.others()) {
            for (Figure f : Figure.all(settings)) {
                if (f.isJudged()) {
                    List<String> cells = new ArrayList<>(
                            List.of(v.name(), f.name(), results.ratio(v, f).map(Estimate::ratio).orElse("")));
                    if (isJudged(settings)) {
                        cells.add(results.noise(f).map(Reports::range).orElse(""));
                        cells.add(results.verdict(v, f).map(verdict -> word(verdict, f)).orElse(""));
                    }
                    table.row(cells);
                }
            }
        }
        return table;
    }

    private static boolean isJudged(Settings settings) {
        return settings.turns() >= Results.LEAST_TURNS;
    }

    private static String range(Estimate e) {
        return new Estimate(e.low(), e.low(), e.low(), 1).ratio() + " to "
                + new Estimate(e.high(), e.high(), e.high(), 1).ratio();
    }

    private static String word(Verdict verdict, Figure f) {
        return verdict == Verdict.NOTHING ? Verdict.NO_DIFFERENCE : verdict == Verdict.MORE == f.isMoreBetter() ? "better" : "worse";
    }

    /** Returns a sentence for each variant that says no more than the verdicts do. */
    static List<String> outcome(Results results, Settings settings) {
        String first = results.first().name();
        if (!isJudged(settings)) {
            return List.of("No verdict: with fewer than five turns there is no telling a difference from chance.");
        }
        List<String> sentences = new ArrayList<>();
        for (Variant v : results.others()) {
            Map<String, List<String>> said = new LinkedHashMap<>();
            for (Figure f : Figure.all(settings)) {
                results.verdict(v, f).ifPresent(verdict -> said.computeIfAbsent(word(verdict, f), _ -> new ArrayList<>())
                        .add(f.name() + results.ratio(v, f).map(e -> " " + new Estimate(e.median(), 0, 0, 1).ratio()).orElse("")));
            }
            List<String> parts = new ArrayList<>();
            for (String word : List.of("better", "worse")) {
                if (said.containsKey(word)) {
                    parts.add(word + " than " + first + ": " + String.join(", ", said.get(word)));
                }
            }
            int others = said.getOrDefault(Verdict.NO_DIFFERENCE, List.of()).size();
            if (parts.isEmpty()) {
                sentences.add(v.name() + ": no figure differs from " + first + "'s by more than chance.");
            } else {
                sentences.add(v.name() + " is " + String.join("; ", parts) + (others == 0 ? "." : "; no difference shown in " + others
                        + (others == 1 ? " other figure." : " other figures.")));
            }
        }
        return sentences;
    }

    /** Returns sentences on answers, connections, the client and other processes. */
    static List<String> notes(Results results) {
        List<String> notes = new ArrayList<>(answers(results));
        notes.addAll(failures(results));
        notes.addAll(late(results));
        double others = turns(results).mapToDouble(Turn::othersPercent).max().orElse(0);
        notes.add("Others (processes, interrupts, the hypervisor) had at most " + Math.round(others)
                + " % of the service's CPUs in any turn"
                + (others > BUSY_PERCENT ? ", which is much: measure on a quiet machine." : "."));
        return notes;
    }

    private static Stream<Turn> turns(Results results) {
        return results.variants().stream().flatMap(v -> results.turns(v).stream());
    }

    private static List<String> failures(Results results) {
        List<String> notes = new ArrayList<>();
        Map<String, String> reopened = new LinkedHashMap<>();
        for (Variant v : results.variants()) {
            List<Turn> turns = results.turns(v);
            long errors = turns.stream().mapToLong(t -> t.tape().errors()).sum();
            long broken = turns.stream().mapToLong(t -> t.tape().broken()).sum();
            if (errors + broken > 0) {
                notes.add(v.name() + ": answers with an error " + Format.count(errors) + ", requests without an answer "
                        + Format.count(broken) + ", of " + Format.count(turns.stream().mapToLong(t -> t.tape().all()).sum()) + ".");
            }
            long most = turns.stream().mapToLong(Turn::reopened).max().orElse(0);
            if (most > 0) {
                reopened.put(v.name(), Format.count(most));
            }
            if (turns.stream().anyMatch(t -> t.saturation() != null && t.saturation().clientBusy() > CLIENT_BUSY)) {
                notes.add(v.name() + ": at full load the client's thread had no time left, so the service may be able to answer more.");
            }
        }
        if (!reopened.isEmpty()) {
            notes.add("The service closed connections, which were opened again, at most in a turn: " + reopened.entrySet().stream()
                    .map(e -> e.getKey() + " " + e.getValue()).collect(Collectors.joining(", ")) + ".");
        }
        return notes;
    }

    private static List<String> late(Results results) {
        List<String> notes = new ArrayList<>();
        for (Variant v : results.variants()) {
            List<Turn> turns = results.turns(v);
            long worst = turns.stream().mapToLong(Turn::clientLate).max().orElse(0);
            if (worst > LATE_NANOS) {
                notes.add(v.name() + ": in " + turns.stream().filter(t -> t.clientLate() > LATE_NANOS).count() + " of " + turns.size()
                        + (turns.size() == 1 ? " turn" : " turns") + " the client itself was late, at worst by " + Format.nanos(worst)
                        + " at p99: these latencies are not the service's alone.");
            }
        }
        if (notes.isEmpty()) {
            notes.add("The client itself was late by at most " + Format.nanos(turns(results).mapToLong(Turn::clientLate).max().orElse(0))
                    + " at p99 of any turn.");
        }
        return notes;
    }

    /** Compares the answers of all variants. Lengths that vary are compared by their ranges. */
    private static List<String> answers(Results results) {
        Map<String, String> said = new LinkedHashMap<>();
        boolean same = true;
        long least = 0;
        long most = Long.MAX_VALUE;
        TreeSet<Integer> statuses = null;
        for (Variant v : results.variants()) {
            TreeSet<Integer> mine = new TreeSet<>();
            long from = Long.MAX_VALUE;
            long to = -1;
            for (Turn t : results.turns(v)) {
                mine.addAll(t.tape().statuses().keySet());
                from = Math.min(from, t.tape().leastLength());
                to = Math.max(to, t.tape().mostLength());
            }
            least = Math.max(least, from);
            most = Math.min(most, to);
            same &= statuses == null || statuses.equals(mine);
            statuses = statuses == null ? mine : statuses;
            said.put(v.name(), "status " + mine.stream().map(String::valueOf).collect(Collectors.joining(" and ")) + ", "
                    + (from == to ? from : from + " to " + to) + " bytes");
        }
        if (same && least <= most) {
            return List.of("All answers: " + said.values().iterator().next() + (said.values().stream().distinct().count() > 1
                    ? "; the lengths vary" : "") + ".");
        }
        return List.of("The answers differ: " + said.entrySet().stream().map(e -> e.getKey() + " " + e.getValue())
                .collect(Collectors.joining("; ")) + ".");
    }

    /** Returns the report for a terminal. */
    static String text(Results results, Settings settings) {
        StringBuilder text = new StringBuilder("GET " + settings.path() + ", " + Format.plain(settings.rate()) + " requests/s, "
                + settings.connections() + (settings.connections() == 1 ? " connection" : " connections") + "; medians of "
                + settings.turns() + (settings.turns() == 1 ? " turn" : " turns and their intervals") + ".\n");
        figures(results, settings).forEach(part -> text.append('\n').append(part.table().text()));
        if (!results.others().isEmpty()) {
            text.append('\n').append(ratios(results, settings).text());
        }
        text.append('\n');
        outcome(results, settings).forEach(sentence -> text.append(sentence).append('\n'));
        notes(results).forEach(note -> text.append(note).append('\n'));
        return text.toString();
    }

    /** Returns the results as a page: latency by time since the port answered, percentiles as curves, and all figures. */
    static Page page(Results results, Settings settings) {
        Pictures pictures = new Pictures(results, settings);
        Page page = new Page("A service, tried on gmp4j and on the JDK's scheduler")
                .lead(String.join(" ", outcome(results, settings)))
                .facts(facts(results, settings))
                .charts("Latency by time since the port answered", pictures.byTime())
                .charts("Percentiles", pictures.percentiles());
        figures(results, settings).forEach(part -> page.heading(part.title()).table(part.table()));
        return page.heading("Divided by " + results.first().name()).table(ratios(results, settings))
                .heading("How it is measured").paragraphs(notes(results)).paragraphs(how(settings));
    }

    /** Returns machine, date, variants and command by name, for people. */
    static Map<String, String> facts(Results results, Settings settings) {
        Map<String, String> facts = MachineInfo.here().facts();
        facts.put("client's JVM", facts.remove("JVM"));
        facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        facts.put("CPUs", "service " + Cpus.list(settings.serverCpus()) + ", client " + Cpus.list(settings.clientCpus()));
        results.variants().forEach(v -> facts.put(v.name(), v.about()));
        facts.put("command", settings.command());
        return facts;
    }

    /** Returns the method of measurement, in paragraphs. */
    static List<String> how(Settings settings) {
        int turns = settings.turns();
        String intervals = turns == 1 ? "Each variant starts once, so that there are no intervals."
                : "A figure is the median of %d turns, a ratio that of two starts in the same turn%s."
                .formatted(turns, Estimate.brackets(turns, "turn"));
        String warm = settings.hasWarm() ? """
                The warm part begins %s s after the port answered, and lasts %s s."""
                .formatted(Format.plain(settings.warmup()), Format.plain(settings.seconds())) : "";
        String full = settings.saturates() ? """
                At the end the connections send, for %s s, each its next request as soon as it has an answer."""
                .formatted(Format.plain(settings.saturate())) : "";
        return List.of("""
                In each turn the service is started with each variant in turn, every other turn in the opposite order, and stopped. %s"""
                .formatted(intervals), """
                From the moment when the service's port can be connected to, the client sends %s requests/s as a Poisson process does, on %d
                connections that are kept alive. Latency is from the moment when a request was due, so what waits for a free connection
                counts. The client is a thread of the command itself, which has warmed up against a server of its own before the first
                turn. The service has settled with the first half second, since the port answered,
                whose mean latency is below 5 ms. %s %s"""
                .formatted(Format.plain(settings.rate()), settings.connections(), warm, full), """
                A figure is called better or worse only if its ratio's interval has no 1 in it and its median lies outside of what the turns
                of the first variant reach, divided by their own median, to either side.""")
                .stream().map(text -> text.strip().replaceAll("\\s+", " ")).toList();
    }

    /** Returns the report as JSON. */
    static String json(Results results, Settings settings) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("machine", MachineInfo.here().json());
        all.put("settings", settings(settings));
        all.put("outcome", outcome(results, settings));
        all.put("notes", notes(results));
        List<Object> variants = new ArrayList<>();
        List<Object> turns = new ArrayList<>();
        for (Variant v : results.variants()) {
            variants.add(variant(results, settings, v));
            for (int i = 0; i < results.turns(v).size(); i++) {
                turns.add(turn(settings, v, i, results.turns(v).get(i)));
            }
        }
        all.put("variants", variants);
        all.put("turns", turns);
        return JsonText.of(all);
    }

    private static Map<String, Object> settings(Settings settings) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("command", settings.command());
        o.put("service", settings.service());
        o.put("rate", settings.rate());
        o.put("path", settings.path());
        o.put("connections", settings.connections());
        o.put("seconds", settings.seconds());
        o.put("warmup_seconds", settings.warmup());
        o.put("saturate_seconds", settings.saturate());
        o.put("turns", settings.turns());
        o.put("server_cpus", Cpus.list(settings.serverCpus()));
        o.put("client_cpus", Cpus.list(settings.clientCpus()));
        o.put("confidence", Estimate.confidence(settings.turns()));
        return o;
    }

    private static Map<String, Object> variant(Results results, Settings settings, Variant v) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("name", v.name());
        o.put("gmp4j", v.isOurs());
        o.put("flags", v.flags());
        Map<String, Object> medians = new LinkedHashMap<>();
        Map<String, Object> intervals = new LinkedHashMap<>();
        Map<String, Object> ratios = new LinkedHashMap<>();
        Map<String, Object> ratioIntervals = new LinkedHashMap<>();
        Map<String, Object> verdicts = new LinkedHashMap<>();
        for (Figure f : Figure.all(settings)) {
            results.figure(v, f).ifPresent(e -> put(f, e, medians, intervals));
            if (v != results.first()) {
                results.ratio(v, f).ifPresent(e -> put(f, e, ratios, ratioIntervals));
                Optional<Verdict> verdict = results.verdict(v, f);
                verdict.ifPresent(it -> verdicts.put(f.key(), word(it, f)));
            }
        }
        o.put("medians", medians);
        o.put("intervals", intervals);
        o.put("ratios", ratios);
        o.put("ratio_intervals", ratioIntervals);
        o.put("verdicts", verdicts);
        return o;
    }

    private static void put(Figure f, Estimate e, Map<String, Object> medians, Map<String, Object> intervals) {
        medians.put(f.key(), JsonText.digits(e.median()));
        intervals.put(f.key(), e.interval());
    }

    private static Map<String, Object> turn(Settings settings, Variant v, int turn, Turn t) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("variant", v.name());
        o.put("turn", turn + 1);
        for (Figure f : Figure.all(settings)) {
            double value = f.of().applyAsDouble(t);
            o.put(f.key(), Double.isFinite(value) ? JsonText.digits(value) : null);
        }
        Map<String, Object> statuses = new LinkedHashMap<>();
        t.tape().statuses().forEach((status, count) -> statuses.put("" + status, count));
        o.put("statuses", statuses);
        o.put("without_answer", t.tape().broken());
        o.put("connections_reopened", t.reopened());
        o.put("client_late_p99_ns", t.clientLate());
        o.put("others_percent", JsonText.digits(t.othersPercent()));
        o.put("young_histogram", Histograms.encode(t.tape().young()));
        o.put("warm_histogram", Histograms.encode(t.tape().warm()));
        List<Object> slots = new ArrayList<>();
        for (int i = 0; i < t.tape().slots().size(); i++) {
            Histogram h = t.tape().slots().get(i);
            slots.add(List.of(i * Tape.SLOT_SECONDS, h.getTotalCount(), h.getValueAtPercentile(50), h.getValueAtPercentile(99),
                    h.getMaxValue()));
        }
        o.put("slots_from_count_p50_p99_max", slots);
        return o;
    }
}
