// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

/**
 * The order in which an M that steals visits the other Ps. It is a start, and a step that is coprime to the number of Ps. So a walk of
 * {@code count} steps visits each P once. Start and step are random for each walk, so no table of permutations is needed.
 */
public final class RandomOrder {
    private final int count;
    private final int[] coprimes;

    /** Makes the order over {@code count} Ps, at least 1. */
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

    /** Returns the number of Ps that a walk visits. */
    public int count() {
        return count;
    }

    /** Returns the first position of the walk with seed {@code i} (any int, unsigned). */
    public int start(int i) {
        return Integer.remainderUnsigned(i, count);
    }

    /** Returns the step of the walk with seed {@code i}. */
    public int step(int i) {
        return coprimes[Integer.remainderUnsigned(Integer.divideUnsigned(i, count), coprimes.length)];
    }

    /** Returns the position after {@code pos}. */
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
