// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.gmp_h;

/**
 * Accesses a histogram of durations in a struct of gmp.h. Bucket i begins at {@link #lowest lowest(i)} nanoseconds and ends where the next
 * bucket begins. The last bucket has no end. From 4 ns on the width of a bucket is at most a quarter of its beginning. A histogram has one
 * writer, which counts without an atomic instruction. Any thread reads it.
 *
 * @param offset bytes from the struct's address to the histogram
 * @param arena the arena of the structs, which checks addresses with {@code gmp.checkptr}
 */
public record Buckets(long offset, Mem.Arena arena) {
    /** The number of buckets. */
    public static final int N = gmp_h.GMP_BUCKETS;

    /** The number of bits after the first 1 that choose among the buckets of a power of two. */
    private static final int BITS = 2;
    private static final int PARTS = 1 << BITS;

    /** Returns the bucket of a duration. */
    public static int bucket(long nanos) {
        if (nanos < PARTS) {
            return (int) Math.max(0, nanos);
        }
        int e = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
        return Math.min(N - 1, (e - BITS + 1) * PARTS + (int) (nanos >>> e - BITS & PARTS - 1));
    }

    /** Returns the least duration in a bucket, ns. */
    public static long lowest(int bucket) {
        return bucket < PARTS ? bucket : (long) (PARTS + bucket % PARTS) << bucket / PARTS - 1;
    }

    private long at(long struct, int i) {
        return Mem.within(struct, offset + ((long) i << 3), arena);
    }

    /** Counts a duration. Called by the one writer. */
    public void add(long struct, long nanos) {
        Mem.LONG.addOpaque(at(struct, bucket(nanos)), 1);
    }

    /** Adds the counts to {@code sums}, bucket by bucket, each as it was at some moment of this call. */
    public void addTo(long struct, long[] sums) {
        for (int i = 0; i < N; i++) {
            sums[i] += Mem.LONG.getOpaque(at(struct, i));
        }
    }
}
