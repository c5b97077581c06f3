// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

class FitTest {
    private static final long GIB = 1L << 30;
    private static final double[] SIZES = {10, 100, 1_000, 10_000};

    @Test
    void exponents() {
        for (double e : new double[] {-1, 0, 0.5, 1, 2}) {
            double[] costs = Arrays.stream(SIZES).map(n -> 7 * Math.pow(n, e)).toArray();
            assertEquals(e, Fit.exponent(SIZES, costs), 1e-9);
        }
        assertTrue(Double.isNaN(Fit.exponent(new double[] {10}, new double[] {5})));
    }

    @Test
    void leastSquares() {
        assertEquals(0.56, Fit.slope(new double[] {1, 2, 3, 4}, new double[] {2, 1, 3, 3.2}), 1e-9);
    }

    @Test
    void anExponentIsTakenWhereItIsExpected() {
        List<Scaling.Point> points = List.of(point(1, 1_000), point(10, 50), point(100, 500), point(1_000, 5_000));
        assertEquals(1, new Scaling.Result(Series.SELECT, points).wallExponent(), 1e-9);
        List<Scaling.Point> all = List.of(point(10, 50), point(100, 5), point(1_000, 0.5));
        assertEquals(-1, new Scaling.Result(Series.ROUND, all).wallExponent(), 1e-9);
        assertEquals(-2, new Scaling.Result(Series.ROUND, all).cpuExponent(), 1e-9);
    }

    private static Scaling.Point point(int size, double wall) {
        return new Scaling.Point(size, wall, wall / size, 0);
    }

    @Test
    void sizes() {
        assertEquals(List.of(1, 2, 4, 8, 16, 32, 64), Series.YIELD.sizes(64, GIB));
        assertEquals(List.of(1, 10, 100, 1_000), Series.SELECT.sizes(1_000_000, GIB));
        assertEquals(List.of(10, 100), Series.RECEIVERS.sizes(100, GIB));
        assertEquals(List.of(10, 100, 1_000, 2_000), Series.RING.sizes(2_000, GIB));
        assertEquals(1_000_000, Series.CREATE.sizes(10_000_000, GIB).getLast());
    }

    /** A goroutine with a channel wants more than one alone. */
    @Test
    void sizesThatFit() {
        assertEquals(10_000_000, Series.ROUND.sizes(10_000_000, 20 * GIB).getLast());
        assertEquals(1_000_000, Series.RING.sizes(10_000_000, 20 * GIB).getLast());
    }

    @Test
    void driftIsTheChangeOfAnHour() {
        int columns = Drift.COLUMNS.size();
        List<double[]> rows = IntStream.of(360, 720, 1080).mapToObj(s -> {
            double[] row = new double[columns + 1];
            Arrays.fill(row, 5);
            row[0] = s;
            row[1] = 100 + s / 36; // 110, 120, 130: 100 more in an hour, and 120 is the mean
            return row;
        }).toList();
        double[] expected = new double[columns];
        expected[0] = 100 / 120.0;
        assertArrayEquals(expected, Drift.slopes(rows), 1e-9);
    }

    @Test
    void aJvmThatFailsIsAnError() {
        IOException e = assertThrows(IOException.class,
                () -> Jvm.run(List.of("-Xlog:disable"), Fit.class, line -> { }, "x"));
        assertEquals("Fit x ended with 1", e.getMessage());
    }
}
