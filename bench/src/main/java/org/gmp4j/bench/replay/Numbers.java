// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/** Pseudo-random numbers of a seed. */
final class Numbers {
    private long x;

    Numbers(long seed) {
        x = seed;
    }

    /** Returns a number from 0 to {@code n} - 1. */
    int below(int n) {
        x += 0x9E3779B97F4A7C15L; // SplitMix64.
        long z = (x ^ x >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        z ^= z >>> 31;
        return (int) ((z >>> 32) * n >>> 32);
    }
}
