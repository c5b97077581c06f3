// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import org.gmp4j.bench.measure.Rings;

/**
 * Ring operations by one thread, their lines in its own caches, beside the same in C: what the algorithm costs without
 * the machine's memory traffic.
 */
final class SameCpuSteal {
    private static final int SLICE = 4096;
    private static final int SLICES = 201;
    private static final int LEAST_SLICES = 21;

    /** Calls of a slice: short loops, called often, are compiled as they are in life, not in the middle of a turn. */
    private static final int CALLS = 32;

    private static final int LOOP = SLICE / CALLS;

    private final Rings rings;
    private final Clock clock;

    /** Keeps the optimiser from dropping what is timed. */
    long sink;

    SameCpuSteal(Rings rings, Clock clock) {
        this.rings = rings;
        this.clock = clock;
    }

    /** Samples of rounds of steals; slices of C between them, some of them even when few samples are wanted. */
    Floor steals(int batch, Samples samples) {
        rings.clear();
        Floor floor = new Floor();
        boolean more = true;
        do {
            long total = 0;
            for (int n = 0; n < SLICE; n += Rings.ROUND) {
                rings.fill(batch);
                long start = System.nanoTime();
                sink += rings.steal();
                long end = System.nanoTime();
                long nanos = Math.max(0, end - start - clock.costNanos());
                rings.drain(batch);
                total += nanos;
                more = more && samples.add(nanos, end);
            }
            long c = batch == 0 ? 0 : Rings.floorSteal(SLICE, batch);
            floor.add((double) total / SLICE, (double) c / SLICE);
        } while (more || floor.slices() < LEAST_SLICES);
        return batch == 0 ? probe() : floor; // A probe is too short for a clock every sixteen: C does without.
    }

    /** Measures a push and a pop. */
    Floor pushpop() {
        long pp = rings.thief(0);
        Floor floor = new Floor();
        for (int i = 0; i < SLICES; i++) {
            long a = System.nanoTime();
            for (int call = 0; call < CALLS; call++) {
                sink += rings.pushpop(pp, LOOP);
            }
            long b = System.nanoTime();
            Rings.floorPushpop(pp, SLICE);
            long c = System.nanoTime();
            floor.add((double) (b - a) / SLICE, (double) (c - b) / SLICE);
        }
        return floor;
    }

    /** Measures a probe of an empty ring. */
    Floor probe() {
        Floor floor = new Floor();
        for (int i = 0; i < SLICES; i++) {
            long start = System.nanoTime();
            for (int call = 0; call < CALLS; call++) {
                sink += rings.probe(LOOP);
            }
            long nanos = System.nanoTime() - start;
            floor.add((double) nanos / SLICE, (double) Rings.floorProbe(SLICE) / SLICE);
        }
        return floor;
    }
}
