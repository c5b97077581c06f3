// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleFunction;

import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.JsonText;

/**
 * A median and its interval, from one value of each fork: processes are independent of each other, runs within one are not.
 * The interval reaches from one order statistic to the other of its kind, as near to the middle as they still enclose the
 * median of all possible forks with 95 %; with fewer than six forks these are the least and the greatest, which enclose it
 * with {@link #confidence}.
 *
 * @param median the middle value, or the mean of the two in the middle
 * @param low the interval's lower end
 * @param high its upper end
 * @param forks how many values
 */
public record Estimate(double median, double low, double high, int forks) {
    private static final double WANTED = 0.95;

    /**
     * Returns the estimate of some values.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Estimate of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no values");
        }
        double[] v = values.stream().mapToDouble(d -> d).sorted().toArray();
        int k = rank(v.length);
        return new Estimate(median(v), v[k - 1], v[v.length - k], v.length);
    }

    /** Returns the middle value, or the mean of the two in the middle; NaN without values. */
    public static double median(double... values) {
        double[] v = values.clone();
        Arrays.sort(v);
        return v.length == 0 ? Double.NaN : (v[v.length / 2] + v[(v.length - 1) / 2]) / 2;
    }

    /** Returns the innermost rank, from 1 on, whose interval has enough confidence; else 1. */
    private static int rank(int n) {
        int k = 1;
        while (2 * (k + 1) <= n && confidence(n, k + 1) >= WANTED) {
            k++;
        }
        return k;
    }

    /** Returns the probability that the median lies between the k-th least and the k-th greatest of n values. */
    static double confidence(int n, int k) {
        double outside = 0;
        double ways = 1; // n over i
        for (int i = 0; i < k; i++) {
            outside += ways;
            ways = ways * (n - i) / (i + 1);
        }
        return 1 - 2 * outside / Math.pow(2, n);
    }

    /** Returns the figure and its interval, as {@code format} writes numbers. A common unit stands once. */
    public String text(DoubleFunction<String> format) {
        String middle = format.apply(median);
        String from = format.apply(low);
        String to = format.apply(high);
        if (forks == 1 || from.equals(to)) {
            return middle;
        }
        int space = middle.lastIndexOf(' ');
        String unit = space < 0 ? "" : middle.substring(space);
        if (from.endsWith(unit) && to.endsWith(unit)) {
            from = from.substring(0, from.length() - unit.length());
            to = to.substring(0, to.length() - unit.length());
        }
        return middle + " (" + from + " to " + to + ")";
    }

    /** Returns the figure as a ratio, and its interval. */
    public String ratio() {
        return forks == 1 ? ratio(median) : ratio(median) + " (" + ratio(low) + " to " + ratio(high) + ")";
    }

    /** Returns a ratio with two or three digits. */
    static String ratio(double r) {
        return Format.decimals(r, r < 0.00995 ? 4 : r < 0.0995 ? 3 : r < 9.95 ? 2 : r < 99.5 ? 1 : 0);
    }

    /** Returns the interval's ends, for JSON. */
    public List<Number> interval() {
        return List.of(JsonText.digits(low), JsonText.digits(high));
    }

    /** Returns what stands in brackets behind medians of so many values, as the end of a sentence; nothing for one value. */
    public static String brackets(int values, String value) {
        return values == 1 ? "" : "; in brackets is the interval between two order statistics that encloses the true median with "
                + (int) Math.floor(100 * confidence(values)) + " % confidence"
                + (values < 6 ? " (least and greatest " + value + ")" : "");
    }

    /** Returns the confidence with which the interval of so many forks encloses the median. */
    public static double confidence(int forks) {
        return confidence(forks, rank(forks));
    }
}
