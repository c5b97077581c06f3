// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.Table;

/** Results as tables for people and as maps for JSON. */
final class Reports {
    private Reports() {
    }

    /** Returns the table of a group's series, with a column for each size. */
    static String scaling(String group, List<Scaling.Result> results) {
        TreeSet<Integer> sizes = new TreeSet<>();
        results.forEach(r -> r.points().forEach(p -> sizes.add(p.size())));
        List<String> head = new ArrayList<>(List.of(group));
        sizes.forEach(size -> head.add(Format.count(size)));
        head.addAll(List.of("exponent", "expected"));
        Table table = new Table(1, head.toArray(String[]::new));
        for (Scaling.Result r : results) {
            if (group.equals("procs")) {
                table.row(row(r, r.series().title + ": wall", sizes, Scaling.Point::wall, r.wallExponent()));
                table.row(row(r, "  CPU", sizes, Scaling.Point::cpu, r.cpuExponent()));
            } else {
                table.row(row(r, r.series().title, sizes, Scaling.Point::wall, r.wallExponent()));
            }
            if (r.points().stream().anyMatch(p -> p.gc() > p.wall() / 10)) {
                table.row(row(r, "  collections, mean", sizes, Scaling.Point::gc, Double.NaN));
            }
        }
        return Series.note(group) + "\n\n" + table.text();
    }

    private static List<String> row(Scaling.Result r, String title, TreeSet<Integer> sizes,
            ToDoubleFunction<Scaling.Point> cost, double exponent) {
        Map<Integer, String> cells = new LinkedHashMap<>();
        r.points().forEach(p -> cells.put(p.size(), Format.nanos(cost.applyAsDouble(p))));
        List<String> row = new ArrayList<>(List.of(title));
        sizes.forEach(size -> row.add(cells.getOrDefault(size, "")));
        row.add(Double.isNaN(exponent) ? "" : Format.decimals(exponent, 2));
        row.add(Double.isNaN(exponent) ? "" : Format.plain(r.series().expected));
        return row;
    }

    /** Returns the table of collectors, with a column for each. */
    static String gc(Map<String, Map<GcCost.Figure, Double>> all) {
        List<String> head = new ArrayList<>(List.of("collector"));
        head.addAll(all.keySet());
        Table table = new Table(1, head.toArray(String[]::new));
        for (GcCost.Figure f : GcCost.Figure.values()) {
            List<String> row = new ArrayList<>(List.of(f.title));
            all.values().forEach(figures -> row.add(f.unit.equals("ns") ? Format.nanos(figures.get(f))
                    : Format.count(Math.round(figures.get(f))) + (f.unit.equals("bytes") ? " B" : "")));
            table.row(row);
        }
        return "Switches on 1 P, wake-ups on 2 with others parked, in a heap of 512 MB.\n\n" + table.text();
    }

    /** Returns one object a series, for JSON. */
    static List<Object> scalingJson(List<Scaling.Result> results) {
        List<Object> all = new ArrayList<>();
        for (Scaling.Result r : results) {
            Map<String, Object> o = new LinkedHashMap<>();
            o.put("series", r.series().name().toLowerCase(Locale.ROOT));
            o.put("group", r.series().group);
            o.put("what", r.series().title);
            o.put("unit", "ns");
            o.put("sizes", r.points().stream().map(Scaling.Point::size).toList());
            o.put("wall", r.points().stream().map(Scaling.Point::wall).toList());
            o.put("collections", r.points().stream().map(Scaling.Point::gc).toList());
            o.put("exponent", r.wallExponent());
            if (r.series().group.equals("procs")) {
                o.put("cpu", r.points().stream().map(Scaling.Point::cpu).toList());
                o.put("cpu_exponent", r.cpuExponent());
            }
            o.put("from", r.series().from());
            o.put("expected", r.series().expected);
            all.add(o);
        }
        return all;
    }

    /** Returns one object a figure, with a value for each collector, for JSON. */
    static List<Object> gcJson(Map<String, Map<GcCost.Figure, Double>> all) {
        List<Object> rows = new ArrayList<>();
        for (GcCost.Figure f : GcCost.Figure.values()) {
            Map<String, Object> o = new LinkedHashMap<>();
            o.put("figure", f.name().toLowerCase(Locale.ROOT));
            o.put("what", f.title.strip());
            o.put("unit", f.unit);
            all.forEach((collector, figures) -> o.put(collector.toLowerCase(Locale.ROOT), figures.get(f)));
            rows.add(o);
        }
        return rows;
    }

    /** Columns, a row each tenth, and what changes in an hour as part of the mean. */
    static Map<String, Object> driftJson(Drift.Result r) {
        Map<String, Object> o = new LinkedHashMap<>();
        List<String> columns = new ArrayList<>(List.of("seconds"));
        columns.addAll(Drift.COLUMNS);
        o.put("columns", columns);
        o.put("rows", r.rows().stream().map(row -> Arrays.stream(row).boxed().toList()).toList());
        o.put("change_an_hour", Arrays.stream(r.slopes()).boxed().toList());
        return o;
    }
}
