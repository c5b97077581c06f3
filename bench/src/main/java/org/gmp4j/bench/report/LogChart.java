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
        Svg svg = new Svg(WIDTH, HEIGHT, about);
        svg.text("t", LEFT, 18, title);
        grid(svg, scale);
        for (Curve c : curves) {
            curve(svg, c, scale);
        }
        labels(svg, scale);
        return svg.toString();
    }

    private record Scale(double from, double to, int low, int high, int right) {
        double x(double v) {
            return LEFT + (to > from ? (v - from) / (to - from) : 0.5) * (right - LEFT);
        }

        double y(double nanos) {
            return TOP + (high - Math.log10(Math.max(LEAST_NANOS, nanos))) / (high - low) * (HEIGHT - TOP - BOTTOM);
        }
    }

    private void grid(Svg svg, Scale scale) {
        List<Integer> named = scale.high - scale.low <= FEW_DECADES ? List.of(1, 2, 5) : List.of(1);
        for (int decade = scale.low; decade <= scale.high; decade++) {
            for (int step = 1; step <= 9 && (decade < scale.high || step == 1); step++) {
                double nanos = step * Math.pow(10, decade);
                double y = scale.y(nanos);
                boolean across = named.contains(step);
                svg.line(across ? "g" : "k", across ? LEFT : LEFT - SMALL_TICK, y, across ? scale.right : LEFT, y);
                if (across) {
                    String name = nanos < 1 ? Format.plain(nanos) + " ns" : Format.gap(Math.round(nanos));
                    svg.text("a e", LEFT - 8, y + 4, name);
                }
            }
        }
        for (Tick t : ticks) {
            double x = scale.x(t.x);
            svg.line("g", x, TOP, x, HEIGHT - BOTTOM);
        }
        names(svg, scale);
    }

    /** Draws the names beneath the vertical lines: the first, the last, and each other name that has room between its neighbours. */
    private void names(Svg svg, Scale scale) {
        Tick last = ticks.getLast();
        double before = Double.NEGATIVE_INFINITY;
        for (Tick t : ticks) {
            double half = t.name.length() * SMALL_LETTER / 2;
            double x = scale.x(t.x);
            double end = t == last ? Double.POSITIVE_INFINITY : scale.x(last.x) - last.name.length() * SMALL_LETTER / 2;
            boolean first = before == Double.NEGATIVE_INFINITY;
            if (t == last && ticks.size() > 1 || first || x - half >= before + BETWEEN_NAMES && x + half + BETWEEN_NAMES <= end) {
                svg.text("a m", x, HEIGHT - BOTTOM + 18, t.name);
                before = x + half;
            }
        }
    }

    private static void curve(Svg svg, Curve c, Scale scale) {
        StringBuilder path = new StringBuilder();
        for (Point p : c.points) {
            path.append(String.format(Locale.ROOT, "%s%.1f,%.1f", path.isEmpty() ? "M" : " L", scale.x(p.x), scale.y(p.nanos)));
        }
        svg.add("<path class=\"c %s\" d=\"%s\"/>\n", c.style, path);
        Point first = c.points.getFirst();
        if (c.points.stream().allMatch(p -> p.x == first.x && p.nanos == first.nanos)) { // A line of no length is not seen.
            svg.dot(c.style, scale.x(first.x), scale.y(first.nanos), 3.5, "");
        }
        for (Mark m : c.marks) {
            double x = scale.x(m.at.x);
            double y = scale.y(m.at.nanos);
            if (m.shown) {
                svg.line(c.style, x, scale.y(m.low), x, scale.y(m.high));
                svg.dot(c.style, x, y, 3.5, "");
            }
            svg.dot("h", x, y, 9, m.tip);
        }
    }

    /** Writes labels at the curves' ends, moved apart where they would overlap. */
    private void labels(Svg svg, Scale scale) {
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
            svg.add("<path class=\"c %s\" d=\"M%d,%.1f h12\"/>", l.curve.style, x, l.y);
            svg.text("l", x + 16, l.y + 4, l.curve.name);
        }
    }
}
