// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** The parts of a page that needs nothing else: well-formed, readable on light and on dark ground, no scripts. */
public final class Page {
    /** What ends a page. */
    public static final String BOTTOM = "</main>\n</body>\n</html>\n";

    private static final String STYLE = "page.css";

    private Page() {
    }

    /** Returns the beginning of a page. */
    public static String top(String title) {
        return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                + "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                + "<title>" + escape(title) + "</title>\n<style>\n" + style()
                + "</style>\n</head>\n<body>\n<main>\n<h1>" + escape(title) + "</h1>\n";
    }

    /** Names and what they stand for. */
    public static void facts(StringBuilder page, Map<String, String> facts) {
        page.append("<dl>\n");
        facts.forEach((name, value) -> page.append("<dt>").append(escape(name)).append("</dt><dd>")
                .append(escape(value)).append("</dd>\n"));
        page.append("</dl>\n");
    }

    /** Appends a heading. */
    public static void heading(StringBuilder page, String text) {
        page.append("<h2>").append(escape(text)).append("</h2>\n");
    }

    /** Appends a table. */
    public static void table(StringBuilder page, Table table) {
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
        try (InputStream in = Page.class.getResourceAsStream(STYLE)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Escapes text for use between tags and in attributes. */
    public static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
