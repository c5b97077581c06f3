// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import org.gmp4j.Go;
import org.gmp4j.bench.measure.Rings;
import org.gmp4j.ffi.Affinity;
import org.gmp4j.queue.Runq;

/**
 * Steals across CPUs: a goroutine on one P fills the victims, a goroutine on another P robs them; they take turns. The
 * victim's lines are in its owner's cache when the thief comes, as they are in life. Each steal is timed on its own.
 */
final class OtherCpuSteal {
    /** Which pair's turn it is: not in the order of their addresses, which the hardware's prefetcher would follow. */
    private static final int[] ORDER = {3, 12, 6, 15, 0, 9, 5, 14, 2, 8, 11, 1, 13, 7, 4, 10};

    private final Rings rings;
    private final Clock clock;

    /** The CPUs at the last start: the owner's, the thief's. */
    private volatile int ownerCpu;

    private volatile int thiefCpu;

    /** Rounds filled, by the owner; rounds stolen, by the thief. -1: no more. */
    private volatile long filled;

    private volatile long robbed;
    private volatile Throwable failed;
    private volatile boolean started;

    OtherCpuSteal(Rings rings, Clock clock) {
        this.rings = rings;
        this.clock = clock;
    }

    int ownerCpu() {
        return ownerCpu;
    }

    int thiefCpu() {
        return thiefCpu;
    }

    /** Starts the thief and acts as the owner until {@code samples} are complete. Called in a goroutine. */
    void run(int batch, Samples samples) {
        filled = 0;
        robbed = 0;
        started = false;
        failed = null;
        rings.clear();
        ownerCpu = Affinity.currentCpu();
        Go.go(() -> thief(batch, samples));
        Patience patience = new Patience("the thief did not start on another P");
        while (!started) { // Keeps this P busy.
            patience.spin();
        }
        long round = 0;
        while (robbed == round) {
            fill(batch);
            filled = ++round;
            patience = new Patience("the thief did not take its turn");
            while (robbed == round - 1) {
                patience.spin();
            }
        }
        if (failed != null) {
            throw new IllegalStateException(failed.getMessage(), failed);
        }
    }

    private void fill(int batch) {
        rings.fill(batch);
        if (batch == 0) { // Empty, but just used.
            for (int i = 0; i < Rings.ROUND; i++) {
                rings.pushpop(rings.victim(i), 1);
            }
        }
    }

    private void thief(int batch, Samples samples) {
        thiefCpu = Affinity.currentCpu();
        started = true;
        long[] nanos = new long[Rings.ROUND];
        try {
            boolean more = true;
            for (long round = 1; more; round++) {
                Patience patience = new Patience("the victims' owner did not take its turn");
                while (filled != round) {
                    patience.spin();
                }
                steal(nanos);
                rings.drain(batch);
                long now = System.nanoTime();
                for (long n : nanos) {
                    more = samples.add(n, now);
                    if (!more) {
                        break;
                    }
                }
                if (more) {
                    robbed = round;
                }
            }
        } catch (Throwable t) {
            failed = t;
        }
        robbed = -1;
    }

    private void steal(long[] nanos) {
        for (int i = 0; i < Rings.ROUND; i++) {
            long thief = rings.thief(ORDER[i]);
            long victim = rings.victim(ORDER[i]);
            long start = System.nanoTime();
            long _ = Runq.runqsteal(thief, victim, false, 0);
            nanos[i] = System.nanoTime() - start - clock.costNanos();
        }
    }
}
