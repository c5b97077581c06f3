// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

/** Busy waiting that does not last for ever. */
final class Patience {
    private static final long NANOS = 20_000_000_000L;
    private static final int CHECK = 1 << 14;

    private final String complaint;
    private int spins;
    private long end;

    /** Watches a wait that must end; {@code complaint} says what is wrong when it does not. */
    Patience(String complaint) {
        this.complaint = complaint;
    }

    /** Spins. Called once in each round of the waiting loop. */
    void spin() {
        Thread.onSpinWait();
        if (++spins % CHECK == 0) {
            check();
        }
    }

    private void check() {
        long now = System.nanoTime();
        if (end == 0) {
            end = now + NANOS;
        } else if (now - end > 0) {
            throw new IllegalStateException(complaint + " within " + NANOS / 1_000_000_000 + " s");
        }
    }

    /** Keeps the CPU busy. */
    static void spinFor(long nanos) {
        if (nanos > 0) {
            long end = System.nanoTime() + nanos;
            while (System.nanoTime() - end < 0) {
                Thread.onSpinWait();
            }
        }
    }
}
