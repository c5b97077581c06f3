// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import org.gmp4j.struct.Mem;

/**
 * Accesses a free block, which has the address of the next block in its list, and then a mark. The mark is the block's own address
 * combined with a secret of the allocator, so a program cannot write it. If a block has its mark when it is freed, it was free already. The
 * mark is cleared when the block is taken. A block that was never taken has zeros.
 */
final class Blocks {
    private static final int MARK = Long.BYTES;

    private Blocks() {
    }

    static long next(long block) {
        return Mem.LONG.get(block);
    }

    /** Links a block to {@code next}, and marks it. */
    static void free(long block, long next, long secret) {
        Mem.LONG.set(block, next);
        Mem.LONG.set(block + MARK, block ^ secret);
    }

    /** Clears the mark of a block that is in no list any more. */
    static void take(long block) {
        Mem.LONG.set(block + MARK, 0);
    }

    static boolean isFree(long block, long secret) {
        return Mem.LONG.get(block + MARK) == (block ^ secret);
    }
}
