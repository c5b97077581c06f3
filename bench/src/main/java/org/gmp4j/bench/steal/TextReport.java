// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.Map;

import org.gmp4j.bench.report.Table;

/** The report on stdout. */
final class TextReport {
    private static final int WIDTH = 110;

    private TextReport() {
    }

    static String write(Report report) {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, String> fact : Tables.facts(report).entrySet()) {
            text.append(wrap(String.format("%-10s", fact.getKey()) + fact.getValue(), 10));
        }
        section(text, Texts.FLOORS, Tables.floors(report));
        section(text, Texts.STEALS, Tables.steals(report));
        section(text, Texts.WAKES, Tables.wakes(report));
        section(text, Texts.IDLE, Tables.idle(report));
        text.append("\nHow the samples are taken\n");
        for (Texts.Paragraph p : Texts.all(report)) {
            text.append(wrap("  " + p.title() + ": " + p.text(), 4));
        }
        return text.toString();
    }

    private static void section(StringBuilder text, String title, Table table) {
        text.append('\n').append(title).append('\n').append(table.text());
    }

    /** Breaks at blanks; lines after the first are indented. */
    static String wrap(String paragraph, int indent) {
        StringBuilder text = new StringBuilder();
        String rest = paragraph;
        while (rest.length() > WIDTH) {
            int at = rest.lastIndexOf(' ', WIDTH);
            if (at <= indent) {
                break;
            }
            text.append(rest, 0, at).append('\n');
            rest = " ".repeat(indent) + rest.substring(at + 1);
        }
        return text.append(rest).append('\n').toString();
    }
}
