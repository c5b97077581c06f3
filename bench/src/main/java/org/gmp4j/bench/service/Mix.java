// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/** How much CPU time requests need: drawn anew for each. */
enum Mix {
    /** 99 of 100 need 20 µs, one needs 5 ms. */
    RARE("rare", "99 of 100 requests need 20 µs of CPU, one needs 5 ms; latencies of the short ones") {
        @Override
        long next(RandomGenerator random) {
            return random.nextInt(100) == 0 ? 5_000_000 : SHORT_NANOS;
        }

        @Override
        double meanNanos() {
            return 0.99 * SHORT_NANOS + 0.01 * 5_000_000;
        }

        @Override
        boolean isShort(long nanos) {
            return nanos == SHORT_NANOS;
        }
    },
    /** Exponential with a mean of 200 µs; all count as short. */
    EXP("exp", "requests need 200 µs of CPU on average, exponentially distributed") {
        @Override
        long next(RandomGenerator random) {
            return (long) (random.nextExponential() * 200_000);
        }

        @Override
        double meanNanos() {
            return 200_000;
        }
    },
    /** Each needs 20 µs. */
    FIXED("fixed", "each request needs 20 µs of CPU") {
        @Override
        long next(RandomGenerator random) {
            return SHORT_NANOS;
        }

        @Override
        double meanNanos() {
            return SHORT_NANOS;
        }
    };

    private static final long SHORT_NANOS = 20_000;

    private final String text;
    private final String about;

    Mix(String text, String about) {
        this.text = text;
        this.about = about;
    }

    /** Returns the mix of this name, or null. */
    static Mix of(String text) {
        return Arrays.stream(values()).filter(m -> m.text.equals(text)).findFirst().orElse(null);
    }

    static List<String> names() {
        return Arrays.stream(values()).map(Mix::toString).toList();
    }

    abstract long next(RandomGenerator random);

    abstract double meanNanos();

    /** Returns whether a request of this length counts for the percentiles. */
    boolean isShort(long nanos) {
        return true;
    }

    /** Returns the name for people. */
    String about() {
        return about;
    }

    @Override
    public String toString() {
        return text;
    }
}
