// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.gmp4j.bench.report.Page;

/** All ratios with their intervals as SVG: a line a row, to the right by the logarithm. Left of 1 we need less. */
final class RatioPlot {
    private static final int WIDTH = 1000;
    private static final int LEFT = 210;
    private static final int RIGHT = 20;
    private static final int TOP = 46;
    private static final int LINE = 18;
    private static final int BOTTOM = 30;
    private static final double STEP = 3.5;

    private final List<Peer> peers;
    private final List<Line> lines = new ArrayList<>();

    private record Dot(Peer peer, Estimate ratio) {
    }

    private record Line(String name, List<Dot> dots) {
    }

    RatioPlot(Results results) {
        peers = Reports.others(results);
        Reports.each(results, (work, row) -> {
            List<Dot> dots = new ArrayList<>();
            for (Peer peer : peers) {
                results.ratio(work, row, peer).filter(r -> r.low() > 0).ifPresent(r -> dots.add(new Dot(peer, r)));
            }
            lines.add(new Line(row.name(), dots));
        });
    }

    private int decade(boolean upper) {
        double most = lines.stream()
                .flatMap(l -> l.dots().stream())
                .mapToDouble(d -> upper ? Math.log10(d.ratio().high()) : -Math.log10(d.ratio().low()))
                .max()
                .orElse(0);
        int decade = Math.max(1, (int) Math.ceil(most));
        return upper ? decade : -decade;
    }

    /** Draws the picture. */
    String svg() {
        int low = decade(false);
        int high = decade(true);
        int height = TOP + lines.size() * LINE + BOTTOM;
        StringBuilder svg = new StringBuilder();
        add(svg, "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, height);
        add(svg, "<title>gmp4j divided by others, by row</title>\n");
        for (int i = 0; i < peers.size(); i++) {
            int x = LEFT + i * 190;
            String name = Page.escape(peers.get(i).title());
            add(svg, "<circle class=\"s%d\" cx=\"%d\" cy=\"14\" r=\"5\"/>", i, x);
            add(svg, "<text class=\"l\" x=\"%d\" y=\"18\">%s</text>\n", x + 10, name);
        }
        for (int d = low; d <= high; d++) {
            double x = x(Math.pow(10, d), low, high);
            String style = d == 0 ? "one" : "g";
            int bottom = height - BOTTOM;
            add(svg, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", style, x, x, TOP - 10, bottom);
            add(svg, "<text class=\"a m\" x=\"%.1f\" y=\"%d\">%s</text>\n", x, height - BOTTOM + 18, decadeName(d));
        }
        for (int i = 0; i < lines.size(); i++) {
            line(svg, lines.get(i), TOP + i * LINE + LINE / 2, low, high);
        }
        return svg.append("</svg>\n</figure>\n").toString();
    }

    private static String decadeName(int d) {
        return d >= 0 ? "1" + "0".repeat(d) : "0." + "0".repeat(-d - 1) + "1";
    }

    private void line(StringBuilder svg, Line line, int y, int low, int high) {
        add(svg, "<text class=\"a e\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT - 10, y + 4, Page.escape(line.name()));
        for (Dot dot : line.dots()) {
            int i = peers.indexOf(dot.peer());
            double at = y + (i - (peers.size() - 1) / 2.0) * STEP;
            Estimate r = dot.ratio();
            double from = x(r.low(), low, high);
            double to = x(r.high(), low, high);
            String tip = Page.escape(line.name() + ", " + dot.peer().title() + ": " + Estimate.ratio(r.median()));
            add(svg, "<line class=\"s%d\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", i, from, to, at, at);
            add(svg, "<circle class=\"s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>%s</title></circle>\n", i,
                    x(r.median(), low, high), at, tip);
        }
    }

    private static double x(double ratio, int low, int high) {
        return LEFT + (Math.log10(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT);
    }

    private static void add(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
    }
}
