// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** What can be seen on curves of latencies. */
class ChartTest {
    private static Chart of(long... nanos) {
        Histogram h = Histograms.latencies();
        for (long n : nanos) {
            h.recordValue(n);
        }
        Chart chart = new Chart("chart");
        chart.add("curve", "s0", h, 1);
        return chart;
    }

    /** Returns the names at the left of each picture. */
    private static List<List<String>> axes(String svg) {
        List<List<String>> all = new ArrayList<>();
        for (String picture : svg.split("</svg>")) {
            List<String> names = new ArrayList<>();
            for (Matcher m = Pattern.compile("<text class=\"a e\"[^>]*>([^<]*)<").matcher(picture); m.find();) {
                names.add(m.group(1));
            }
            if (!names.isEmpty()) {
                all.add(names);
            }
        }
        return all;
    }

    @Test
    void picturesThatAreComparedHaveOneScale() {
        List<List<String>> axes = axes(LogChart.together(List.of(of(20, 40).chart(), of(3_000_000).chart(), new Chart("none").chart())));
        List<String> decades = List.of("10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms");
        assertEquals(List.of(decades, decades, decades), axes);
        assertEquals(List.of("10 ns", "20 ns", "50 ns", "100 ns"), axes(of(20, 40).svg()).getFirst(), "a picture by itself");
    }

    /** Eight small lines between two decades. */
    @Test
    void decadesAreDivided() {
        assertEquals(6 * 8, of(20, 3_000_000).svg().split("<line class=\"k\"", -1).length - 1);
        assertEquals(6, of(20, 40).svg().split("<line class=\"k\"", -1).length - 1, "two and five are lines across");
    }

    @Test
    void aSingleSampleIsSeen() {
        assertTrue(of(500).svg().contains("<circle class=\"s0\""));
        assertTrue(!of(500, 900, 1000).svg().contains("<circle class=\"s0\""));
    }

    @Test
    void namesBeneathDoNotTouch() {
        List<LogChart.Tick> ticks = new ArrayList<>();
        for (int n : new int[] {64, 1000, 1010, 1024}) {
            ticks.add(new LogChart.Tick(n, Integer.toString(n)));
        }
        LogChart chart = new LogChart("chart", "", ticks);
        chart.add("curve", "s0", List.of(new LogChart.Point(64, 1)), List.of());
        List<String> names = new ArrayList<>();
        for (Matcher m = Pattern.compile("<text class=\"a m\"[^>]*>([^<]*)<").matcher(chart.svg()); m.find();) {
            names.add(m.group(1));
        }
        assertEquals(List.of("64", "1024"), names);
    }
}
