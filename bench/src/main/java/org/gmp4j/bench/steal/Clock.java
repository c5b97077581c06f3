// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.Arrays;

/**
 * What {@link System#nanoTime} can tell apart.
 *
 * @param costNanos what one reading adds to what is timed: the least of many
 * @param stepNanos the least difference between two readings that can be seen
 */
record Clock(long costNanos, long stepNanos) {
    private static final int READINGS = 20_000;

    /** Measures it; after a moment of warm-up. */
    static Clock measure() {
        long[] deltas = new long[READINGS];
        for (int i = 0; i < 10; i++) {
            read(deltas);
        }
        Arrays.sort(deltas);
        long step = Long.MAX_VALUE;
        for (int i = 1; i < READINGS; i++) {
            long d = deltas[i] - deltas[i - 1];
            if (d > 0) {
                step = Math.min(step, d);
            }
        }
        return new Clock(deltas[0], step);
    }

    private static void read(long[] deltas) {
        long last = System.nanoTime();
        for (int i = 0; i < deltas.length; i++) {
            long now = System.nanoTime();
            deltas[i] = now - last;
            last = now;
        }
    }
}
