// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.gmp_h;

/**
 * A histogram of durations in a struct of gmp.h, at any address of such a struct. Bucket i begins at {@link #lowest
 * lowest(i)} nanoseconds and ends where the next begins, the last has no end: each is at most a quarter wider than its
 * begin. One writer, which counts without an atomic instruction; anybody reads.
 *
 * @param offset where it stands in its struct
 * @param arena where its structs come from, to be asked with {@code gmp.checkptr}
 */
public record Buckets(long offset, Mem.Arena arena) {
    /** How many there are. */
    public static final int N = gmp_h.GMP_BUCKETS();

    /** So many bits behind the first decide among the buckets of a power of two. */
    private static final int BITS = 2;
    private static final int PARTS = 1 << BITS;

    /** The bucket of a duration. */
    public static int bucket(long nanos) {
        if (nanos < PARTS) {
            return (int) Math.max(0, nanos);
        }
        int e = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
        return Math.min(N - 1, (e - BITS + 1) * PARTS + (int) (nanos >>> e - BITS & PARTS - 1));
    }

    /** The least duration in a bucket, nanoseconds. */
    public static long lowest(int bucket) {
        return bucket < PARTS ? bucket : (long) (PARTS + bucket % PARTS) << bucket / PARTS - 1;
    }

    private long at(long struct, int i) {
        return Mem.within(struct, offset + ((long) i << 3), arena);
    }

    /** Counts a duration; the writer only. */
    public void add(long struct, long nanos) {
        long at = at(struct, bucket(nanos));
        Mem.LONG.addOpaque(at, 1);
    }

    /** Adds the counts to {@code sums}, one each bucket. Each is as it was at some moment while this runs. */
    public void addTo(long struct, long[] sums) {
        for (int i = 0; i < N; i++) {
            sums[i] += Mem.LONG.getOpaque(at(struct, i));
        }
    }
}
