// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.Locale;

/** Numbers for people. */
public final class Format {
    private static final String[] UNITS = {"ns", "µs", "ms", "s"};

    private Format() {
    }

    /** Returns three digits and a unit: {@code 3.44 ns}, {@code 101 µs}. */
    public static String nanos(double nanos) {
        double v = nanos;
        int unit = 0;
        while (v >= 999.5 && unit < UNITS.length - 1) {
            v /= 1000;
            unit++;
        }
        int decimals = v == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
        return decimals(v, decimals) + " " + UNITS[unit];
    }

    /** Returns a gap such as {@code 20 µs}, without decimals; 0 without a unit. */
    public static String gap(long nanos) {
        long v = nanos;
        int unit = 0;
        while (v != 0 && v % 1000 == 0 && unit < UNITS.length - 1) {
            v /= 1000;
            unit++;
        }
        return v == 0 ? "0" : v + " " + UNITS[unit];
    }

    /** Returns a number with thousands apart. */
    public static String count(long n) {
        return String.format(Locale.ROOT, "%,d", n);
    }

    /** Returns a number with so many decimals, after a point. */
    public static String decimals(double v, int decimals) {
        return String.format(Locale.ROOT, "%." + decimals + "f", v);
    }

    /** Seconds without needless decimals: {@code 15}, {@code 0.5}. */
    public static String seconds(long nanos) {
        return decimals(nanos / 1e9, 3).replaceAll("\\.?0+$", "");
    }

    /** Returns a number for files, with as many decimals as needed, at most three. */
    public static String plain(double v) {
        return v == Math.rint(v) ? Long.toString((long) v) : decimals(v, 3).replaceAll("\\.?0+$", "");
    }
}
