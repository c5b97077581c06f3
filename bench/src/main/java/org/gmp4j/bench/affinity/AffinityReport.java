// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.affinity;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.gmp4j.bench.measure.Others;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.MachineInfo;
import org.gmp4j.bench.report.Page;
import org.gmp4j.bench.report.Svg;
import org.gmp4j.bench.report.Table;
import org.gmp4j.bench.report.Verdict;

/** What an experiment came to: tables, a map for JSON, a page. */
record AffinityReport(MachineInfo machine, int procs, int rounds, double seconds, List<Experiment> all, Others.Summary others) {
    static final String HOW = "Each round has every variant once and the first one twice, in a random order, each in a scheduler of its "
            + "own in this JVM; one round before them is not counted. A ratio is the time of an operation divided by that of the first "
            + "variant in the same round; below 1 is less time. Intervals are of the median, by bootstrap over rounds, 95 %. Noise is the "
            + "same ratio "
            + "of the first variant to itself. A variant is called faster or slower only if its interval has no 1 in it and its median "
            + "lies outside of what the noise reaches to either side. A round in which others had more than " + Others.DISTURBED
            + " % of the CPUs is repeated, but no more rounds in all than one workload has.";

    private static String name(Experiment e) {
        return e.workload.name().toLowerCase(Locale.ROOT);
    }

    private static String word(Verdict v) {
        return switch (v) {
            case LESS -> "faster";
            case MORE -> "slower";
            case NOTHING -> Verdict.NO_DIFFERENCE;
        };
    }

    private Table table(Experiment e) {
        Table table = new Table(1, name(e), "an operation", "interval", "ratio", "interval", "stolen in 1,000", "of those nearby",
                "verdict");
        for (int i = 0; i < e.variants.size(); i++) {
            Bootstrap time = e.time(i);
            Bootstrap ratio = e.ratio(i);
            Map<String, Double> over = e.over(i);
            double near = over.isEmpty() ? 0 : over.get("core") + over.get("cache");
            table.row(List.of(e.variants.get(i).toString(), Format.nanos(time.median()),
                    Format.nanos(time.low()) + " to " + Format.nanos(time.high()), i == 0 ? "1" : Format.decimals(ratio.median(), 3),
                    i == 0 ? "" : interval(ratio), Format.decimals(e.stolen(i), 1),
                    over.isEmpty() || e.stolen(i) == 0 ? "" : Format.decimals(100 * near / e.stolen(i), 0) + "%",
                    i == 0 ? "" : word(e.verdict(i))));
        }
        return table;
    }

    private static String interval(Bootstrap b) {
        return Format.decimals(b.low(), 3) + " to " + Format.decimals(b.high(), 3);
    }

    private static String noise(Experiment e) {
        return "noise of " + name(e) + ": " + e.variants.getFirst() + " beside itself is " + Format.decimals(e.noise().median(), 3) + ", "
                + interval(e.noise());
    }

    /** Returns the sentence that the intervals allow, and no more. */
    private static String outcome(Experiment e) {
        List<String> said = new ArrayList<>();
        for (int i = 1; i < e.variants.size(); i++) {
            if (e.verdict(i) != Verdict.NOTHING) {
                said.add(e.variants.get(i) + " is " + word(e.verdict(i)) + " than " + e.variants.getFirst());
            }
        }
        return name(e) + ": " + (said.isEmpty() ? "no variant differs from " + e.variants.getFirst() + " by more than the noise"
                : String.join("; ", said)) + ".";
    }

    private Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>(machine.facts());
        facts.put("settings", procs + " Ps, " + rounds + " rounds, " + Format.plain(seconds) + " s a turn");
        facts.put("others", others.text());
        return facts;
    }

    String text() {
        StringBuilder t = new StringBuilder();
        facts().forEach((k, v) -> t.append(k).append(": ").append(v).append('\n'));
        for (Experiment e : all) {
            t.append('\n').append(table(e).text()).append("  ").append(noise(e)).append('\n');
        }
        t.append('\n');
        all.forEach(e -> t.append(outcome(e)).append('\n'));
        return t.append('\n').append(HOW).append('\n').toString();
    }

    private static Map<String, Object> json(Bootstrap b) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("median", b.median());
        map.put("low", b.low());
        map.put("high", b.high());
        return map;
    }

    Map<String, Object> json() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("machine", machine.json());
        map.put("procs", procs);
        map.put("rounds", rounds);
        map.put("seconds", seconds);
        map.put("others", others.json());
        List<Object> experiments = new ArrayList<>();
        for (Experiment e : all) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("workload", name(e));
            one.put("noise", json(e.noise()));
            List<Object> variants = new ArrayList<>();
            for (int i = 0; i < e.variants.size(); i++) {
                Map<String, Object> v = new LinkedHashMap<>();
                v.put("affinity", e.variants.get(i).affinity().toString());
                v.put("order", e.variants.get(i).order().toString());
                v.put("nanos", json(e.time(i)));
                v.put("ratio", json(e.ratio(i)));
                v.put("verdict", i == 0 ? "baseline" : word(e.verdict(i)));
                v.put("stolenIn1000", e.stolen(i));
                v.put("stolenIn1000Over", e.over(i));
                v.put("rounds", e.turns.get(i).stream().map(Experiment.Turn::nanosAnOperation).toList());
                variants.add(v);
            }
            one.put("variants", variants);
            one.put("again", e.turns.getLast().stream().map(Experiment.Turn::nanosAnOperation).toList());
            experiments.add(one);
        }
        map.put("experiments", experiments);
        map.put("outcome", all.stream().map(AffinityReport::outcome).toList());
        return map;
    }

    String html() {
        Page page = new Page("gmp affinity")
                .lead(all.stream().map(AffinityReport::outcome).collect(Collectors.joining(" ")))
                .facts(facts());
        all.forEach(e -> page.heading(name(e)).picture(plot(e)).table(table(e)).paragraphs(List.of(noise(e) + ".")));
        return page.heading("How it is measured").paragraphs(List.of(HOW)).html();
    }

    /** Draws a line for each variant, with its interval and each round's ratio; the noise is the first. */
    private static String plot(Experiment e) {
        int left = 190;
        int right = 960;
        int line = 24;
        int count = e.variants.size();
        double low = 0.95;
        double high = 1.05;
        for (int i = 0; i <= count; i++) {
            low = Math.min(low, e.ratio(i).low());
            high = Math.max(high, e.ratio(i).high());
        }
        double from = Math.log(low) - 0.02;
        double scale = (right - left) / (Math.log(high) + 0.02 - from);
        int bottom = 40 + count * line;
        Svg svg = new Svg(1000, bottom + 30, name(e) + ": time divided by that of " + e.variants.getFirst());
        svg.text("t", 10, 18, "time divided by that of " + e.variants.getFirst() + ": left is faster");
        for (double tick : new double[] {0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 4}) {
            double x = left + (Math.log(tick) - from) * scale;
            if (x >= left && x <= right) {
                svg.line(tick == 1 ? "one" : "g", x, 30, x, bottom);
                svg.text("a m", x, bottom + 18, Format.plain(tick));
            }
        }
        for (int row = 0; row < count; row++) {
            int i = row == 0 ? count : row;
            Bootstrap r = e.ratio(i);
            double y = 42 + row * line;
            String style = row == 0 ? "b0" : "s" + e.verdict(i).ordinal();
            svg.text("a e", left - 10, y + 4, row == 0 ? "noise" : e.variants.get(i).toString());
            svg.add("<line class=\"%s\" stroke-width=\"3\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", style,
                    left + (Math.log(r.low()) - from) * scale, left + (Math.log(r.high()) - from) * scale, y, y);
            svg.dot(style, left + (Math.log(r.median()) - from) * scale, y, 4.5, Format.decimals(r.median(), 3) + ", " + interval(r));
        }
        return svg.toString();
    }
}
