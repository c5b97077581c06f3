// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.ArrayList;
import java.util.List;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * Percentile curves as SVG. To the right each step is one nine more (90 %, 99 %, 99.9 % …), upwards latency grows by
 * its logarithm. A curve ends at its longest sample, where one sample stands for all that is beyond.
 */
public final class Chart {
    private static final int TICKS = 8;
    private static final int MOST_NINES = 7;
    private static final double LEAST_NANOS = 0.5;
    private static final double[] MARKS = {50, 90, 99, 99.9, 99.99};

    private final String title;
    private final List<Curve> curves = new ArrayList<>();

    private record Curve(String name, String style, Histogram histogram, int operations, List<LogChart.Point> points) {
    }

    /** Makes an empty chart. */
    public Chart(String title) {
        this.title = title;
    }

    /**
     * Adds the curve of samples in nanoseconds.
     *
     * @param style a class of the page's style sheet
     * @param operations how many each sample is of
     */
    public void add(String name, String style, Histogram histogram, int operations) {
        List<LogChart.Point> points = new ArrayList<>();
        double most = Math.log10(Math.max(1, histogram.getTotalCount()));
        for (HistogramIterationValue v : histogram.percentiles(TICKS)) {
            double nines = Math.min(most, -Math.log10(1 - v.getPercentileLevelIteratedTo() / 100));
            points.add(new LogChart.Point(nines, Math.max(LEAST_NANOS, (double) v.getValueIteratedTo() / operations)));
        }
        curves.add(new Curve(name, style, histogram, operations, points));
    }

    private int nines() {
        double most = curves.stream()
                .mapToDouble(c -> c.points().getLast().x())
                .max()
                .orElse(1);
        return Math.clamp((int) Math.ceil(most), 1, MOST_NINES);
    }

    /** Returns the picture. */
    public String svg() {
        return chart().svg();
    }

    /** Returns the picture before it is drawn, to be compared with others. */
    public LogChart chart() {
        int nines = nines();
        List<LogChart.Tick> ticks = new ArrayList<>();
        for (int n = 0; n <= nines; n++) {
            ticks.add(new LogChart.Tick(n, percent(n)));
        }
        LogChart chart = new LogChart(title, title + ": latency by percentile", ticks);
        for (Curve c : curves) {
            List<LogChart.Point> points = c.points().stream()
                    .map(p -> new LogChart.Point(Math.min(p.x(), nines), p.nanos()))
                    .toList();
            chart.add(c.name(), c.style(), points, marks(c, nines));
        }
        return chart;
    }

    private static List<LogChart.Mark> marks(Curve c, int nines) {
        List<LogChart.Mark> marks = new ArrayList<>();
        for (double percentile : MARKS) {
            double at = -Math.log10(1 - percentile / 100);
            if (c.histogram().getTotalCount() * (1 - percentile / 100) >= 1 - 1e-9 && at <= nines) {
                double nanos = (double) c.histogram().getValueAtPercentile(percentile) / c.operations();
                String tip = c.name() + " p" + Format.plain(percentile) + ": " + Format.nanos(nanos);
                marks.add(new LogChart.Mark(new LogChart.Point(at, nanos), nanos, nanos, false, tip));
            }
        }
        return marks;
    }

    private static String percent(int nines) {
        return nines == 0 ? "0%" : nines == 1 ? "90%" : "99" + (nines > 2 ? "." + "9".repeat(nines - 2) : "") + "%";
    }
}
