// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.ArrayList;
import java.util.List;

/** A table for people, as text and in the page: columns of words, to the left, then of figures, to the right. */
public final class Table {
    private final int words;
    private final List<String> head;
    private final List<List<String>> rows = new ArrayList<>();

    /** Makes an empty table whose first {@code words} columns hold words. */
    public Table(int words, String... head) {
        this.words = words;
        this.head = List.of(head);
    }

    /** Adds a row. */
    public void row(List<String> cells) {
        if (cells.size() != head.size()) {
            throw new IllegalArgumentException(cells + " for " + head);
        }
        rows.add(List.copyOf(cells));
    }

    /** Returns the columns' names. */
    public List<String> head() {
        return head;
    }

    /** Returns the rows that were added. */
    public List<List<String>> rows() {
        return rows;
    }

    /** Returns whether a column holds words. */
    public boolean isWords(int column) {
        return column < words;
    }

    /** Returns the table in columns, two blanks apart; each line ends with a newline. */
    public String text() {
        int[] width = new int[head.size()];
        List<List<String>> all = new ArrayList<>(rows);
        all.addFirst(head);
        for (List<String> row : all) {
            for (int i = 0; i < width.length; i++) {
                width[i] = Math.max(width[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : all) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < width.length; i++) {
                String pad = " ".repeat(width[i] - row.get(i).length());
                line.append("  ").append(isWords(i) ? row.get(i) + pad : pad + row.get(i));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    /** Returns the table as Markdown. */
    public String markdown() {
        StringBuilder text = new StringBuilder();
        markdown(text, head);
        for (int i = 0; i < head.size(); i++) {
            text.append(isWords(i) ? "|---" : "|---:");
        }
        text.append("|\n");
        rows.forEach(cells -> markdown(text, cells));
        return text.toString();
    }

    private static void markdown(StringBuilder text, List<String> cells) {
        cells.forEach(cell -> text.append("| ").append(cell.replace("|", "\\|")).append(' '));
        text.append("|\n");
    }
}
