// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.affinity;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.gmp4j.bench.peers.Estimate;

/**
 * A median with an interval by the percentile bootstrap (Efron 1979): medians of as many values drawn with replacement, many times;
 * the interval holds 95 in 100 of them. Of few values it is too narrow; the least is {@link #LEAST}.
 *
 * @param median of the values
 * @param low the interval's lower end
 * @param high its upper end
 */
record Bootstrap(double median, double low, double high) {
    /** Fewest values that it is worth anything for. */
    static final int LEAST = 5;

    private static final int DRAWS = 10_000;
    private static final double OUTSIDE = 0.025;

    static Bootstrap of(List<Double> values, long seed) {
        double[] v = values.stream().mapToDouble(d -> d).toArray();
        Random random = new Random(seed);
        double[] medians = new double[DRAWS];
        double[] drawn = new double[v.length];
        for (int i = 0; i < DRAWS; i++) {
            for (int k = 0; k < v.length; k++) {
                drawn[k] = v[random.nextInt(v.length)];
            }
            medians[i] = Estimate.median(drawn);
        }
        Arrays.sort(medians);
        int out = (int) (DRAWS * OUTSIDE);
        return new Bootstrap(Estimate.median(v), medians[out], medians[DRAWS - 1 - out]);
    }
}
