// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/** Curves of latencies as SVG: upwards latency grows by its logarithm, to the right is what its user says. */
public final class LogChart {
    private static final int WIDTH = 560;
    private static final int HEIGHT = 320;
    private static final int LEFT = 62;
    private static final int TOP = 34;
    private static final int BOTTOM = 40;
    private static final int LABEL = 14;
    private static final int SHORT_NAME = 11;
    private static final double LETTER = 6.4;
    private static final double LEAST_NANOS = 0.5;
    private static final int FEW_DECADES = 2;
    private static final int SMALL_TICK = 4;
    private static final double SMALL_LETTER = 5.9;
    private static final int BETWEEN_NAMES = 6;

    private final String title;
    private final String about;
    private final List<Tick> ticks;
    private final List<Curve> curves = new ArrayList<>();

    /**
     * A vertical line with its name beneath.
     *
     * @param x where
     * @param name for people
     */
    public record Tick(double x, String name) {
    }

    /**
     * A place on a curve.
     *
     * @param x to the right
     * @param nanos upwards
     */
    public record Point(double x, double nanos) {
    }

    /**
     * What a mouse finds on a curve.
     *
     * @param at where
     * @param low an interval's lower end in nanoseconds
     * @param high its upper end
     * @param shown whether the eye finds it too
     * @param tip what it says
     */
    public record Mark(Point at, double low, double high, boolean shown, String tip) {
    }

    private record Curve(String name, String style, List<Point> points, List<Mark> marks) {
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

    /** Makes an empty chart from the first to the last tick; {@code about} describes it to readers who cannot see it. */
    public LogChart(String title, String about, List<Tick> ticks) {
        this.title = title;
        this.about = about;
        this.ticks = List.copyOf(ticks);
    }

    /** Adds a curve of one point or more, drawn with a class of the page's style sheet. */
    public void add(String name, String style, List<Point> points, List<Mark> marks) {
        curves.add(new Curve(name, style, List.copyOf(points), List.copyOf(marks)));
    }

    /** Returns the decade below all values, or above all. */
    private int decade(boolean upper) {
        DoubleStream points = curves.stream().flatMap(c -> c.points.stream()).mapToDouble(Point::nanos);
        DoubleStream ends = curves.stream().flatMap(c -> c.marks.stream()).mapToDouble(m -> upper ? m.high : m.low);
        double most = DoubleStream.concat(points, ends)
                .map(nanos -> Math.log10(Math.max(LEAST_NANOS, nanos)) * (upper ? 1 : -1))
                .max()
                .orElse(1);
        int decade = (int) Math.ceil(most);
        return upper ? decade : -decade;
    }

    private int right() {
        int longest = curves.stream().mapToInt(c -> c.name.length()).max().orElse(0);
        return 96 + (int) Math.ceil(Math.max(0, longest - SHORT_NAME) * LETTER);
    }

    /** Returns the picture. */
    public String svg() {
        return svg(decade(false), decade(true));
    }

    /** Returns pictures that are compared: one after the other, all with the same decades upwards. */
    public static String together(List<LogChart> charts) {
        List<LogChart> drawn = charts.stream().filter(c -> !c.curves.isEmpty()).toList();
        int low = drawn.stream().mapToInt(c -> c.decade(false)).min().orElse(0);
        int high = drawn.stream().mapToInt(c -> c.decade(true)).max().orElse(1);
        StringBuilder all = new StringBuilder();
        charts.forEach(c -> all.append(c.svg(low, high)));
        return all.toString();
    }

    private String svg(int low, int most) {
        int high = Math.max(low + 1, most);
        Scale scale = new Scale(ticks.getFirst().x, ticks.getLast().x, low, high, WIDTH - right());
        StringBuilder svg = new StringBuilder();
        add(svg, "<figure>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, HEIGHT);
        add(svg, "<title>%s</title>\n", Page.escape(about));
        add(svg, "<text class=\"t\" x=\"%d\" y=\"18\">%s</text>\n", LEFT, Page.escape(title));
        grid(svg, scale);
        for (Curve c : curves) {
            curve(svg, c, scale);
        }
        labels(svg, scale);
        return svg.append("</svg>\n</figure>\n").toString();
    }

    private record Scale(double from, double to, int low, int high, int right) {
        double x(double v) {
            return LEFT + (to > from ? (v - from) / (to - from) : 0.5) * (right - LEFT);
        }

        double y(double nanos) {
            return TOP + (high - Math.log10(Math.max(LEAST_NANOS, nanos))) / (high - low) * (HEIGHT - TOP - BOTTOM);
        }
    }

    private void grid(StringBuilder svg, Scale scale) {
        List<Integer> named = scale.high - scale.low <= FEW_DECADES ? List.of(1, 2, 5) : List.of(1);
        for (int decade = scale.low; decade <= scale.high; decade++) {
            for (int step = 1; step <= 9 && (decade < scale.high || step == 1); step++) {
                double nanos = step * Math.pow(10, decade);
                double y = scale.y(nanos);
                boolean across = named.contains(step);
                add(svg, "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", across ? "g" : "k",
                        across ? LEFT : LEFT - SMALL_TICK, across ? scale.right : LEFT, y, y);
                if (across) {
                    String name = nanos < 1 ? Format.plain(nanos) + " ns" : Format.gap(Math.round(nanos));
                    add(svg, "<text class=\"a e\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 8, y + 4, name);
                }
            }
        }
        for (Tick t : ticks) {
            double x = scale.x(t.x);
            add(svg, "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", x, x, TOP, HEIGHT - BOTTOM);
        }
        names(svg, scale);
    }

    /** Draws the names beneath the vertical lines: the first, the last, and each other name that has room between its neighbours. */
    private void names(StringBuilder svg, Scale scale) {
        Tick last = ticks.getLast();
        double before = Double.NEGATIVE_INFINITY;
        for (Tick t : ticks) {
            double half = t.name.length() * SMALL_LETTER / 2;
            double x = scale.x(t.x);
            double end = t == last ? Double.POSITIVE_INFINITY : scale.x(last.x) - last.name.length() * SMALL_LETTER / 2;
            boolean first = before == Double.NEGATIVE_INFINITY;
            if (t == last && ticks.size() > 1 || first || x - half >= before + BETWEEN_NAMES && x + half + BETWEEN_NAMES <= end) {
                add(svg, "<text class=\"a m\" x=\"%.1f\" y=\"%d\">%s</text>\n", x, HEIGHT - BOTTOM + 18, Page.escape(t.name));
                before = x + half;
            }
        }
    }

    private static void curve(StringBuilder svg, Curve c, Scale scale) {
        StringBuilder path = new StringBuilder();
        for (Point p : c.points) {
            add(path, "%s%.1f,%.1f", path.isEmpty() ? "M" : " L", scale.x(p.x), scale.y(p.nanos));
        }
        add(svg, "<path class=\"c %s\" d=\"%s\"/>\n", c.style, path);
        Point first = c.points.getFirst();
        if (c.points.stream().allMatch(p -> p.x == first.x && p.nanos == first.nanos)) { // A line of no length is not seen.
            add(svg, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>", c.style, scale.x(first.x), scale.y(first.nanos));
        }
        for (Mark m : c.marks) {
            double x = scale.x(m.at.x);
            double y = scale.y(m.at.nanos);
            if (m.shown) {
                double from = scale.y(m.low);
                double to = scale.y(m.high);
                add(svg, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", c.style, x, x, from, to);
                add(svg, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>", c.style, x, y);
            }
            String tip = Page.escape(m.tip);
            add(svg, "<circle class=\"h\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"><title>%s</title></circle>\n", x, y, tip);
        }
    }

    /** Writes labels at the curves' ends, moved apart where they would overlap. */
    private void labels(StringBuilder svg, Scale scale) {
        List<Label> labels = new ArrayList<>();
        curves.forEach(c -> labels.add(new Label(c, scale.y(c.points.getLast().nanos))));
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
            int x = scale.right + 8;
            add(svg, "<path class=\"c %s\" d=\"M%d,%.1f h12\"/>", l.curve.style, x, l.y);
            String name = Page.escape(l.curve.name);
            add(svg, "<text class=\"l\" x=\"%d\" y=\"%.1f\">%s</text>\n", x + 16, l.y + 4, name);
        }
    }

    private static void add(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
    }
}
