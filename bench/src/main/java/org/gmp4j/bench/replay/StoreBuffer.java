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

    /** Returns the last value that the lane has stored to a word; {@code memory} if the buffer has none. */
    long read(long address, long memory) {
        for (int i = n - 1; i >= 0; i--) {
            if (addresses[(from + i) % MOST] == address) {
                return values[(from + i) % MOST];
            }
        }
        return memory;
    }

    /** Lets the first store reach memory. Returns its address. */
    long drainOne() {
        long address = addresses[from];
        if (wide[from]) {
            Mem.LONG.set(address, values[from]);
        } else {
            Mem.INT.set(address, (int) values[from]);
        }
        from = (from + 1) % MOST;
        n--;
        return address;
    }

    void drain() {
        while (n > 0) {
            long _ = drainOne();
        }
    }
}
