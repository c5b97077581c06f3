// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

/** What may be said of a figure divided by the figure that it is compared with. */
public enum Verdict {
    /** The figure is less than the other, by more than the noise. */
    LESS,
    /** The figure is more than the other, by more than the noise. */
    MORE,
    /** The ratio could as well come from the noise. */
    NOTHING;

    /** For {@link #NOTHING}, in words. */
    public static final String NO_DIFFERENCE = "no difference shown";

    /**
     * Judges a ratio beside the noise, which is the ratio of the other figure to itself. The interval must lie wholly on one side of 1, and
     * its median outside of what the noise reaches, to either side.
     *
     * @param low the lower end of the ratio's interval
     * @param median the ratio
     * @param high the upper end of its interval
     * @param noiseLow the lower end of the noise's interval
     * @param noiseHigh its upper end
     */
    public static Verdict of(double low, double median, double high, double noiseLow, double noiseHigh) {
        double reach = Math.max(noiseHigh, 1 / noiseLow);
        if (high < 1 && median < 1 / reach) {
            return LESS;
        }
        return low > 1 && median > reach ? MORE : NOTHING;
    }
}
