// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.math.BigDecimal;

/**
 * How many requests arrive.
 *
 * @param name for people: {@code light}, {@code 50 %}, or the requests
 * @param mix what each needs
 * @param rate requests a second
 */
record Load(String name, Mix mix, double rate) {
    /** Of the server's CPU: 2,000 requests a second of 20 µs. */
    private static final double LIGHT_PERCENT = 4;

    static final String LIGHT = "light";

    static Load light(Mix mix) {
        return new Load(LIGHT, mix, rate(mix, LIGHT_PERCENT));
    }

    static Load percent(Mix mix, double percent) {
        return new Load(plain(percent) + " %", mix, rate(mix, percent));
    }

    static Load requests(Mix mix, double rate) {
        return new Load(plain(rate) + "/s", mix, rate);
    }

    private static String plain(double v) {
        return BigDecimal.valueOf(v).stripTrailingZeros().toPlainString();
    }

    private static double rate(Mix mix, double percent) {
        return percent / 100 * 1e9 / mix.meanNanos();
    }

    /** Returns the share of one CPU that the requests ask for, without the kernel's and the runtime's part. */
    double percent() {
        return 100 * rate * mix.meanNanos() / 1e9;
    }
}
