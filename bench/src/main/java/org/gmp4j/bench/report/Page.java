// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A page of results. A command builds it once and writes it as HTML that needs no other file, is well-formed, readable on light and on
 * dark ground and without scripts; or as Markdown to commit, without pictures.
 */
public final class Page {
    private static final String STYLE = "page.css";

    /** The most characters of a line of Markdown. */
    private static final int WIDTH = 140;

    /** A part of the page in both forms. In Markdown each begins with an empty line. */
    private record Part(String html, String markdown) {
    }

    private final String title;
    private final List<Part> parts = new ArrayList<>();

    /** Makes an empty page. */
    public Page(String title) {
        this.title = title;
    }

    private Page add(String html, String markdown) {
        parts.add(new Part(html, markdown));
        return this;
    }

    /** Adds names and their values. */
    public Page facts(Map<String, String> facts) {
        StringBuilder html = new StringBuilder("<dl>\n");
        StringBuilder markdown = new StringBuilder("\n");
        facts.forEach((name, value) -> {
            html.append("<dt>").append(escape(name)).append("</dt><dd>").append(escape(value)).append("</dd>\n");
            markdown.append(lines("- **" + name + ":** " + value, "  "));
        });
        return add(html.append("</dl>\n").toString(), markdown.toString());
    }

    /** Adds a heading. */
    public Page heading(String text) {
        return add("<h2>" + escape(text) + "</h2>\n", "\n## " + text + "\n");
    }

    /** Adds a heading of the next level. */
    public Page subheading(String text) {
        return add("<h3>" + escape(text) + "</h3>\n", "\n### " + text + "\n");
    }

    /** Adds a paragraph that sums the page up. */
    public Page lead(String text) {
        return add("<p class=\"lead\">" + escape(text) + "</p>\n", "\n" + lines(text, ""));
    }

    /** Adds paragraphs. */
    public Page paragraphs(List<String> all) {
        all.forEach(text -> add("<p>" + escape(text) + "</p>\n", "\n" + lines(text, "")));
        return this;
    }

    /** Adds a table. */
    public Page table(Table table) {
        StringBuilder html = new StringBuilder("<div class=\"scroll\"><table>\n<thead><tr>");
        cells(html, table, "th", table.head());
        html.append("</tr></thead>\n<tbody>\n");
        for (List<String> row : table.rows()) {
            html.append("<tr>");
            cells(html, table, "td", row);
            html.append("</tr>\n");
        }
        return add(html.append("</tbody>\n</table></div>\n").toString(), "\n" + table.markdown());
    }

    private static void cells(StringBuilder page, Table table, String tag, List<String> cells) {
        for (int i = 0; i < cells.size(); i++) {
            page.append('<').append(tag).append(table.isWords(i) ? " class=\"w\">" : ">");
            page.append(escape(cells.get(i))).append("</").append(tag).append('>');
        }
    }

    /** Adds a picture, which Markdown leaves out. */
    public Page picture(String svg) {
        return add(svg, "");
    }

    /** Adds pictures side by side, which Markdown leaves out. */
    public Page pictures(String svgs) {
        return picture("<div class=\"charts\">\n" + svgs + "</div>\n");
    }

    /** Adds charts that are compared, side by side and with the same decades. Markdown leaves them out. */
    public Page charts(List<LogChart> charts) {
        return pictures(LogChart.together(charts));
    }

    /** Adds such charts under a heading of their own. Markdown leaves both out. */
    public Page charts(String title, List<LogChart> charts) {
        return picture("<h2>" + escape(title) + "</h2>\n").charts(charts);
    }

    /** Breaks a text of Markdown into lines; each but the first begins with {@code indent}. */
    private static String lines(String text, String indent) {
        StringBuilder lines = new StringBuilder();
        int begin = 0;
        for (String word : text.split(" ")) {
            if (lines.length() > begin && lines.length() - begin + 1 + word.length() > WIDTH) {
                lines.append('\n');
                begin = lines.length();
                lines.append(indent);
            } else if (!lines.isEmpty()) {
                lines.append(' ');
            }
            lines.append(word);
        }
        return lines.append('\n').toString();
    }

    /** Returns the page as HTML. */
    public String html() {
        StringBuilder page = new StringBuilder("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                + "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
                + "<title>" + escape(title) + "</title>\n<style>\n" + style()
                + "</style>\n</head>\n<body>\n<main>\n<h1>" + escape(title) + "</h1>\n");
        parts.forEach(part -> page.append(part.html));
        return page.append("</main>\n</body>\n</html>\n").toString();
    }

    /**
     * Returns the page as Markdown. People write its last part: a heading, and the text below it in the old page.
     *
     * @param command the command that writes it
     * @param last the heading
     * @param old the old page, or empty
     */
    public String markdown(String command, String last, String old) {
        StringBuilder page = new StringBuilder("# " + title + "\n\nWritten by `" + command + " --markdown`; from \"" + last
                + "\" on it is by hand.\n");
        parts.forEach(part -> page.append(part.markdown));
        String heading = "## " + last;
        int at = ("\n" + old).indexOf("\n" + heading);
        return page.append('\n').append(at < 0 ? heading + "\n" : old.substring(at)).toString();
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
