// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.bench.report.Svg;

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
        Svg svg = new Svg(WIDTH, height, "gmp4j divided by others, by row");
        for (int i = 0; i < peers.size(); i++) {
            int x = LEFT + i * 190;
            svg.dot("s" + i, x, 14, 5, "");
            svg.text("l", x + 10, 18, peers.get(i).title());
        }
        svg.text("a", LEFT, 32, "gmp4j divided by others: left of 1 we need less");
        for (int d = low; d <= high; d++) {
            double x = x(Math.pow(10, d), low, high);
            svg.line(d == 0 ? "one" : "g", x, TOP - 10, x, height - BOTTOM);
            svg.text("a m", x, height - BOTTOM + 18, decadeName(d));
        }
        for (int i = 0; i < lines.size(); i++) {
            line(svg, lines.get(i), TOP + i * LINE + LINE / 2, low, high);
        }
        return svg.toString();
    }

    private static String decadeName(int d) {
        return d >= 0 ? "1" + "0".repeat(d) : "0." + "0".repeat(-d - 1) + "1";
    }

    private void line(Svg svg, Line line, int y, int low, int high) {
        svg.text("a e", LEFT - 10, y + 4, line.name());
        for (Dot dot : line.dots()) {
            int i = peers.indexOf(dot.peer());
            double at = y + (i - (peers.size() - 1) / 2.0) * STEP;
            Estimate r = dot.ratio();
            svg.line("s" + i, x(r.low(), low, high), at, x(r.high(), low, high), at);
            svg.dot("s" + i, x(r.median(), low, high), at, 3.5,
                    line.name() + ", " + dot.peer().title() + ": " + Estimate.ratio(r.median()));
        }
    }

    private static double x(double ratio, int low, int high) {
        return LEFT + (Math.log10(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT);
    }
}
