// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/** How much CPU time requests need: drawn anew for each. */
enum Mix {
    /** 99 of 100 need 20 µs, one needs 5 ms. */
    RARE("rare") {
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
    EXP("exp") {
        @Override
        long next(RandomGenerator random) {
            return (long) (random.nextExponential() * 200_000);
        }

        @Override
        double meanNanos() {
            return 200_000;
        }

        @Override
        boolean isShort(long nanos) {
            return true;
        }
    };

    private static final long SHORT_NANOS = 20_000;

    private final String text;

    Mix(String text) {
        this.text = text;
    }

    /** The mix of this name, or null. */
    static Mix of(String text) {
        return Arrays.stream(values()).filter(m -> m.text.equals(text)).findFirst().orElse(null);
    }

    static List<String> names() {
        return Arrays.stream(values()).map(Mix::toString).toList();
    }

    abstract long next(RandomGenerator random);

    abstract double meanNanos();

    /** Whether a request of this length counts for the percentiles. */
    abstract boolean isShort(long nanos);

    @Override
    public String toString() {
        return text;
    }
}
