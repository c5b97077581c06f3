// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The report as one page that needs nothing else: well-formed, readable on light and on dark ground, no scripts. */
final class HtmlReport {
    private static final String STYLE = "page.css";

    private HtmlReport() {}

    static String write(Report report) {
        StringBuilder page = new StringBuilder();
        page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                + "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                + "<title>gmp steal</title>\n<style>\n");
        page.append(style()).append("</style>\n</head>\n<body>\n<main>\n<h1>gmp steal</h1>\n");
        page.append("<p class=\"lead\">What it costs to steal goroutines, to wake another P, and to hand a value to a"
                + " goroutine there.</p>\n<dl>\n");
        for (Map.Entry<String, String> fact : Tables.facts(report).entrySet()) {
            page.append("<dt>").append(escape(fact.getKey())).append("</dt><dd>");
            page.append(escape(fact.getValue())).append("</dd>\n");
        }
        page.append("</dl>\n");
        steals(page, report);
        wakes(page, report);
        heading(page, Texts.IDLE);
        table(page, Tables.idle(report));
        heading(page, "How the samples are taken");
        for (Texts.Paragraph p : Texts.all(report)) {
            page.append("<h3>").append(escape(p.title())).append("</h3>\n<p>");
            page.append(escape(p.text())).append("</p>\n");
        }
        return page.append("</main>\n</body>\n</html>\n").toString();
    }

    private static void steals(StringBuilder page, Report report) {
        heading(page, Texts.STEALS);
        page.append("<div class=\"charts\">\n");
        for (boolean other : new boolean[] {false, true}) {
            Chart chart = new Chart(other ? "Victim on another CPU" : "Victim on the same CPU (means of sixteen)");
            List<Result> runs = select(report, Run.Kind.STEAL, r -> r.run().otherCpu() == other);
            for (int i = 0; i < runs.size(); i++) {
                int batch = runs.get(i).run().batch();
                chart.add(batch == 0 ? "probe" : "steal " + batch, "b" + i, runs.get(i));
            }
            page.append(chart.svg());
        }
        page.append("</div>\n");
        table(page, Tables.steals(report));
        heading(page, Texts.FLOORS);
        table(page, Tables.floors(report));
    }

    private static void wakes(StringBuilder page, Report report) {
        heading(page, Texts.WAKES);
        page.append("<div class=\"charts\">\n");
        for (Run.Kind kind : new Run.Kind[] {Run.Kind.WAKE, Run.Kind.HANDOFF}) {
            for (long gap : report.of(kind).stream().mapToLong(r -> r.run().gapNanos()).distinct().toArray()) {
                Chart chart = new Chart((kind == Run.Kind.WAKE ? "Wake, gap " : "Handoff, gap ") + Format.gap(gap));
                List<Result> runs = select(report, kind, r -> r.run().gapNanos() == gap);
                for (int i = 0; i < runs.size(); i++) {
                    chart.add(runs.get(i).run().spinName(), "s" + i, runs.get(i));
                }
                page.append(chart.svg());
            }
        }
        page.append("</div>\n");
        table(page, Tables.wakes(report));
    }

    private static List<Result> select(Report report, Run.Kind kind, Predicate<Result> which) {
        return report.of(kind).stream().filter(which).toList();
    }

    private static void heading(StringBuilder page, String text) {
        page.append("<h2>").append(escape(text)).append("</h2>\n");
    }

    private static void table(StringBuilder page, Table table) {
        page.append("<div class=\"scroll\"><table>\n<thead><tr>");
        cells(page, table, "th", table.head());
        page.append("</tr></thead>\n<tbody>\n");
        for (List<String> row : table.rows()) {
            page.append("<tr>");
            cells(page, table, "td", row);
            page.append("</tr>\n");
        }
        page.append("</tbody>\n</table></div>\n");
    }

    private static void cells(StringBuilder page, Table table, String tag, List<String> cells) {
        for (int i = 0; i < cells.size(); i++) {
            page.append('<').append(tag).append(table.isWords(i) ? " class=\"w\">" : ">");
            page.append(escape(cells.get(i))).append("</").append(tag).append('>');
        }
    }

    private static String style() {
        try (InputStream in = HtmlReport.class.getResourceAsStream(STYLE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** For text between tags and in attributes. */
    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
