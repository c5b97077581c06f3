// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.Locale;

/** A picture of a page: lines, dots and texts, drawn with classes of the page's style sheet. */
public final class Svg {
    private final StringBuilder svg = new StringBuilder();

    /** Begins a picture; {@code about} describes it to readers who cannot see it. */
    public Svg(int width, int height, String about) {
        add("<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n<title>%s</title>\n", width, height, Page.escape(about));
    }

    /** Adds formatted SVG. */
    public void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }

    /** Draws a line. */
    public void line(String style, double fromX, double fromY, double toX, double toY) {
        add("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", style, fromX, fromY, toX, toY);
    }

    /** Draws a dot; a mouse finds {@code tip} on it, unless that is empty. */
    public void dot(String style, double x, double y, double radius, String tip) {
        add("<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\">%s</circle>\n", style, x, y, Format.plain(radius),
                tip.isEmpty() ? "" : "<title>" + Page.escape(tip) + "</title>");
    }

    /** Writes a text. */
    public void text(String style, double x, double y, String text) {
        add("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", style, x, y, Page.escape(text));
    }

    /** Returns the whole picture. */
    @Override
    public String toString() {
        return svg + "</svg>\n</figure>\n";
    }
}
