// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

/**
 * In which order a thief visits the other Ps: a start and a step that is coprime to their number, so that one walk of
 * {@code count} steps visits each P once. A random start and step for each walk, no table of permutations.
 */
public final class RandomOrder {
    private final int count;
    private final int[] coprimes;

    /** The order over {@code count} Ps, at least 1. */
    public RandomOrder(int count) {
        this.count = count;
        int[] found = new int[count];
        int n = 0;
        for (int i = 1; i <= count; i++) {
            if (gcd(i, count) == 1) {
                found[n++] = i;
            }
        }
        coprimes = java.util.Arrays.copyOf(found, n);
    }

    /** How many Ps a walk visits. */
    public int count() {
        return count;
    }

    /** Where the walk of seed {@code i} (any int, taken as unsigned) begins. */
    public int start(int i) {
        return Integer.remainderUnsigned(i, count);
    }

    /** The step of the walk of seed {@code i}. */
    public int step(int i) {
        return coprimes[Integer.remainderUnsigned(Integer.divideUnsigned(i, count), coprimes.length)];
    }

    /** The position after {@code pos}. */
    public int next(int pos, int step) {
        int n = pos + step;
        return n >= count ? n - count : n;
    }

    private static int gcd(int a, int b) {
        while (b != 0) {
            int t = a % b;
            a = b;
            b = t;
        }
        return a;
    }
}
