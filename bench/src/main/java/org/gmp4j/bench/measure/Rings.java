// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.measure;

import org.gmp4j.ffi.Shims;
import org.gmp4j.ffi.gmp.shims_h;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;

/**
 * {@value #ROUND} victims and as many thieves, struct p's that no scheduler has, and Gs to move between them: the shape
 * of {@code floor.c}. Reading the clock costs more than a steal of one, so a round of steals is timed together; untimed
 * between two rounds the victims are filled up again and the thieves' rings drained. A victim holds 2b-1 Gs when b are
 * to be taken from it.
 */
public final class Rings implements AutoCloseable {
    /** Pairs, and steals between two readings of the clock. */
    public static final int ROUND = 16;

    /** The largest batch: half a ring. */
    public static final int MAX_BATCH = 128;

    private final long stride = Mem.stride(Struct.P);
    private final long victims;
    private final long thieves;
    private final GSlots slots = new GSlots(this);
    private final long[] gs = new long[2 * MAX_BATCH];

    /**
     * Makes empty rings.
     *
     * @throws IllegalStateException when {@code -Dgmp.runqlen} made rings too short
     */
    public Rings() {
        if (Runq.LEN != 2 * MAX_BATCH) {
            throw new IllegalStateException(
                    "the rings have " + Runq.LEN + " slots: measure without -Dgmp.runqlen");
        }
        Shims.load();
        victims = Mem.alloc(Struct.P, 2 * ROUND);
        thieves = victims + ROUND * stride;
        for (int i = 0; i < gs.length; i++) {
            gs[i] = slots.malg();
        }
    }

    /** Gives structs and slots back. */
    @Override
    public void close() {
        for (int i = 0; i < 2 * ROUND; i++) {
            Mem.recycle(Struct.P, victims + i * stride);
        }
        slots.release();
    }

    /** Returns the struct p that pair {@code i} steals from. */
    public long victim(int i) {
        return victims + i * stride;
    }

    /** Returns the struct p that pair {@code i} steals for. */
    public long thief(int i) {
        return thieves + i * stride;
    }

    /** Empties all rings: before the batch changes. */
    public void clear() {
        for (int i = 0; i < ROUND; i++) {
            while (Runq.runqget(victim(i)) != 0 || Runq.runqget(thief(i)) != 0) {
                continue;
            }
        }
    }

    /** Fills the victims up. */
    public void fill(int batch) {
        for (int i = 0; i < ROUND; i++) {
            long pp = victim(i);
            for (int n = Runq.tail(pp) - Runq.head(pp); n < 2 * batch - 1; n++) {
                Runq.runqput(0, pp, gs[n], false);
            }
        }
    }

    /**
     * Drains the thieves' rings.
     *
     * @throws IllegalStateException when one has not stolen {@code batch}
     */
    public void drain(int batch) {
        for (int i = 0; i < ROUND; i++) {
            drain(i, batch);
        }
    }

    /** Drains the ring of one thief. */
    public void drain(int i, int batch) {
        int moved = Math.min(batch, 1); // One was returned, the others are in its ring.
        while (Runq.runqget(thief(i)) != 0) {
            moved++;
        }
        if (moved != batch) {
            throw new IllegalStateException("a steal moved " + moved + " Gs in place of " + batch);
        }
    }

    /** Steals once for each pair. */
    public long steal() {
        return steals(victims, thieves, stride, ROUND);
    }

    /** Steals {@code n} times. Parameters keep the addresses in registers, as in C: fields would be read again after each acquire. */
    private static long steals(long victim, long thief, long stride, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Runq.runqsteal(thief, victim, false, 0);
            victim += stride;
            thief += stride;
        }
        return sum;
    }

    /** Pushes and pops {@code n} times as the owner of {@code pp}. */
    public long pushpop(long pp, int n) {
        long sum = 0;
        long gp = gs[0];
        for (int i = 0; i < n; i++) {
            Runq.runqput(0, pp, gp, false);
            sum += Runq.runqget(pp);
        }
        return sum;
    }

    /** Makes {@code n} failed probes, a multiple of {@link #ROUND}: of one empty victim after the other, as a thief walks Ps. */
    public long probe(int n) {
        long sum = 0;
        for (int i = 0; i < n; i += ROUND) {
            sum += probes(thieves, victims, stride);
        }
        return sum;
    }

    private static long probes(long thief, long victim, long stride) {
        long sum = 0;
        for (int i = 0; i < ROUND; i++) {
            sum += Runq.runqsteal(thief, victim, false, 0);
            victim += stride;
        }
        return sum;
    }

    /** Checks for the result that the C floor's functions return on an error. */
    private static long checked(long nanos) {
        if (nanos < 0) {
            throw new IllegalStateException("the C floor had no memory, or moved a wrong number of Gs");
        }
        return nanos;
    }

    /** Returns the nanoseconds of {@code n} steals by {@code floor.c}. */
    public static long floorSteal(long n, int batch) {
        return checked(shims_h.gmp_floor_steal(n, batch));
    }

    /** Returns the nanoseconds of {@code n} failed probes by {@code floor.c}. */
    public static long floorProbe(long n) {
        return checked(shims_h.gmp_floor_failed_probe(n));
    }

    /** Makes {@code n} pairs of push and pop by {@code floor.c}. */
    public static void floorPushpop(long pp, long n) {
        shims_h.gmp_floor_pushpop(pp, n);
    }
}
