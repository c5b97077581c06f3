// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.HistogramIterationValue;

/**
 * Percentile curves as SVG. To the right each step is one nine more (90 %, 99 %, 99.9 % …), upwards latency grows by
 * its logarithm. A curve ends at its longest sample, where one sample stands for all that is beyond.
 */
final class Chart {
    private static final int WIDTH = 560;
    private static final int HEIGHT = 320;
    private static final int LEFT = 62;
    private static final int RIGHT = 96;
    private static final int TOP = 34;
    private static final int BOTTOM = 40;
    private static final int LABEL = 14;
    private static final int TICKS = 8;
    private static final int MOST_NINES = 7;
    private static final double LEAST_NANOS = 0.5;
    private static final int FEW_DECADES = 2;

    private final String title;
    private final List<Curve> curves = new ArrayList<>();

    /** One curve: nines and nanoseconds. */
    private record Curve(String name, String style, Result result, List<double[]> points) {
        double last() {
            return points.getLast()[1];
        }
    }

    /** The end label of a curve, and where it would like to stand. */
    private static final class Label {
        final Curve curve;
        double y;

        Label(Curve curve, double y) {
            this.curve = curve;
            this.y = y;
        }
    }

    Chart(String title) {
        this.title = title;
    }

    /** Adds a run's curve, drawn with a class of the page's style sheet. */
    void add(String name, String style, Result result) {
        List<double[]> points = new ArrayList<>();
        double most = Math.log10(Math.max(1, result.samples()));
        for (HistogramIterationValue v : result.histogram().percentiles(TICKS)) {
            double nines = Math.min(most, -Math.log10(1 - v.getPercentileLevelIteratedTo() / 100));
            points.add(new double[] {
                nines, Math.max(LEAST_NANOS, (double) v.getValueIteratedTo() / result.operations())
            });
        }
        curves.add(new Curve(name, style, result, points));
    }

    private int nines() {
        double most = curves.stream()
                .mapToDouble(c -> c.points().getLast()[0])
                .max()
                .orElse(1);
        return Math.clamp((int) Math.ceil(most), 1, MOST_NINES);
    }

    /** The decade below all, or above all. */
    private int decade(boolean upper) {
        double most = curves.stream()
                .flatMap(c -> c.points().stream())
                .mapToDouble(p -> Math.log10(p[1]) * (upper ? 1 : -1))
                .max()
                .orElse(1);
        int decade = (int) Math.ceil(most);
        return upper ? decade : -decade;
    }

    /** The picture. */
    String svg() {
        int nines = nines();
        int low = decade(false);
        int high = Math.max(low + 1, decade(true));
        StringBuilder svg = new StringBuilder();
        add(svg, "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, HEIGHT);
        add(svg, "<title>%s</title>\n", Page.escape(title + ": latency by percentile"));
        add(svg, "<text class=\"t\" x=\"%d\" y=\"18\">%s</text>\n", LEFT, Page.escape(title));
        grid(svg, nines, low, high);
        for (Curve c : curves) {
            curve(svg, c, nines, low, high);
        }
        labels(svg, low, high);
        return svg.append("</svg>\n</figure>\n").toString();
    }

    private static double x(double nines, int most) {
        return LEFT + nines / most * (WIDTH - LEFT - RIGHT);
    }

    private static double y(double nanos, int low, int high) {
        return TOP + (high - Math.log10(nanos)) / (high - low) * (HEIGHT - TOP - BOTTOM);
    }

    private static void grid(StringBuilder svg, int nines, int low, int high) {
        int[] steps = high - low <= FEW_DECADES ? new int[] {1, 2, 5} : new int[] {1};
        for (int decade = low; decade <= high; decade++) {
            for (int step : steps) {
                double nanos = step * Math.pow(10, decade);
                if (decade < high || step == 1) {
                    double y = y(nanos, low, high);
                    int right = WIDTH - RIGHT;
                    add(svg, "<line class=\"g\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, right, y, y);
                    String name = nanos < 1 ? Format.plain(nanos) + " ns" : Format.gap(Math.round(nanos));
                    add(svg, "<text class=\"a e\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 8, y + 4, name);
                }
            }
        }
        for (int n = 0; n <= nines; n++) {
            double x = x(n, nines);
            add(svg, "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", x, x, TOP, HEIGHT - BOTTOM);
            add(svg, "<text class=\"a m\" x=\"%.1f\" y=\"%d\">%s</text>\n", x, HEIGHT - BOTTOM + 18, percent(n));
        }
    }

    private static String percent(int nines) {
        return nines == 0 ? "0%" : nines == 1 ? "90%" : "99" + (nines > 2 ? "." + "9".repeat(nines - 2) : "") + "%";
    }

    private static void curve(StringBuilder svg, Curve c, int nines, int low, int high) {
        StringBuilder path = new StringBuilder();
        for (double[] p : c.points()) {
            add(path, "%s%.1f,%.1f", path.isEmpty() ? "M" : " L", x(Math.min(p[0], nines), nines), y(p[1], low, high));
        }
        add(svg, "<path class=\"c %s\" d=\"%s\"/>\n", c.style(), path);
        for (double percentile : Result.PERCENTILES) {
            double at = -Math.log10(1 - percentile / 100);
            if (c.result().samples() * (1 - percentile / 100) >= 1 - 1e-9 && at <= nines) {
                double nanos = c.result().at(percentile);
                double y = y(Math.max(LEAST_NANOS, nanos), low, high);
                add(svg, "<circle class=\"h\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"><title>%s p%s: %s</title></circle>\n",
                        x(at, nines), y, Page.escape(c.name()), Format.plain(percentile), Format.nanos(nanos));
            }
        }
    }

    /** At the curves' ends, moved apart where they would overlap. */
    private void labels(StringBuilder svg, int low, int high) {
        List<Label> labels = new ArrayList<>();
        curves.forEach(c -> labels.add(new Label(c, y(c.last(), low, high))));
        labels.sort(Comparator.comparingDouble(l -> l.y));
        double from = TOP;
        for (Label l : labels) {
            l.y = Math.max(l.y, from);
            from = l.y + LABEL;
        }
        double to = HEIGHT - BOTTOM;
        for (Label l : labels.reversed()) {
            l.y = Math.min(l.y, to);
            to = l.y - LABEL;
        }
        for (Label l : labels) {
            int x = WIDTH - RIGHT + 8;
            add(svg, "<path class=\"c %s\" d=\"M%d,%.1f h12\"/>", l.curve.style(), x, l.y);
            String name = Page.escape(l.curve.name());
            add(svg, "<text class=\"l\" x=\"%d\" y=\"%.1f\">%s</text>\n", x + 16, l.y + 4, name);
        }
    }

    private static void add(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
    }
}
