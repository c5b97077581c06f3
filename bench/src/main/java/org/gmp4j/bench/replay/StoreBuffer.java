// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import org.gmp4j.struct.Mem;

/**
 * The stores of one lane to off-heap words that other lanes do not see yet, in the order in which it has made them, as a CPU of x86 holds
 * them. The lane itself reads them. A volatile store, an atomic instruction, a full fence and a futex call wait until all of them have
 * reached memory; plain, opaque and release stores do not wait, nor does any load.
 */
final class StoreBuffer {
    /** As many stores as the buffer holds: the lane's next one waits until the first has reached memory. */
    private static final int MOST = 8;

    private final long[] addresses = new long[MOST];
    private final long[] values = new long[MOST];
    private final boolean[] wide = new boolean[MOST];
    private int from;
    private int n;

    boolean isEmpty() {
        return n == 0;
    }

    /** Adds a store of a long, if {@code isLong}, or of an int. */
    void add(long address, long v, boolean isLong) {
        if (n == MOST) {
            long _ = drainOne();
        }
        int i = (from + n++) % MOST;
        addresses[i] = address;
        values[i] = v;
        wide[i] = isLong;
    }

    /**
     * Returns a long, if {@code isLong}, or an int as the lane sees it: a part of its last store that has any byte of it, or memory. If
     * that store has only some of the bytes, all stores reach memory first.
     */
    long read(long address, boolean isLong) {
        int bytes = isLong ? Long.BYTES : Integer.BYTES;
        for (int i = n - 1; i >= 0; i--) {
            int at = (from + i) % MOST;
            int stored = wide[at] ? Long.BYTES : Integer.BYTES;
            long behind = address - addresses[at];
            if (behind >= 0 && behind + bytes <= stored) {
                return values[at] >>> behind * Byte.SIZE; // The low bytes come first in memory.
            }
            if (behind < stored && behind + bytes > 0) {
                drain();
                break;
            }
        }
        return isLong ? Mem.LONG.get(address) : Mem.INT.get(address);
    }

    /** Lets the first store reach memory. Returns its address. A store to a struct that another lane has given back is a failure. */
    long drainOne() {
        long address = addresses[from];
        if (wide[from]) {
            Mem.LONG.set(address, values[from]);
        } else {
            Mem.INT.set(address, (int) values[from]);
        }
        from = (from + 1) % MOST;
        n--;
        if (Memory.isGiven(address)) {
            World.failed(new AssertionError("a late store reaches a struct that was given back"));
        }
        return address;
    }

    void drain() {
        while (n > 0) {
            long _ = drainOne();
        }
    }
}
