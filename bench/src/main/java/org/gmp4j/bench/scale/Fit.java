// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.util.Arrays;

/** Straight lines through measured points. */
final class Fit {
    private Fit() {
    }

    /** Returns the slope of the line with the least squares of errors; NaN for less than two different x. */
    static double slope(double[] x, double[] y) {
        double meanX = Arrays.stream(x).average().orElse(Double.NaN);
        double meanY = Arrays.stream(y).average().orElse(Double.NaN);
        double xy = 0;
        double xx = 0;
        for (int i = 0; i < x.length; i++) {
            xy += (x[i] - meanX) * (y[i] - meanY);
            xx += (x[i] - meanX) * (x[i] - meanX);
        }
        return xy / xx;
    }

    /** Returns the e of cost = c · size^e: the slope of log cost on log size. */
    static double exponent(double[] size, double[] cost) {
        return slope(Arrays.stream(size).map(Math::log).toArray(), Arrays.stream(cost).map(Math::log).toArray());
    }
}
