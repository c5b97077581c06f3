// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * Accesses a field of a struct that is a ring of longs; see {@link LongField}.
 *
 * @param offset bytes from the struct's address to the ring
 * @param last the number of places minus 1; the number is a power of two, and an index counts modulo the number
 * @param arena the arena of the structs, which checks addresses with {@code gmp.checkptr}
 */
public record LongRing(long offset, int last, Mem.Arena arena) {
    private long at(long struct, int i) {
        return Mem.within(struct, offset + ((long) (i & last) << 3), arena);
    }

    public long getOpaque(long struct, int i) {
        return Mem.LONG.getOpaque(at(struct, i));
    }

    public void setOpaque(long struct, int i, long v) {
        Mem.LONG.setOpaque(at(struct, i), v);
    }
}
