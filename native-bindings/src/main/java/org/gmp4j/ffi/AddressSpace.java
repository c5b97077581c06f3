// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Segments over memory that no arena has allocated. A class of its own, because a start needs no segment, and would load some 40 classes of
 * the JDK for it.
 */
public final class AddressSpace {
    /** The whole address space, in which memory is accessed by absolute address. */
    @SuppressWarnings("restricted")
    public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private AddressSpace() {
    }

    /**
     * Returns the whole address space as a segment that ends with an arena.
     *
     * @param arena the arena
     * @return a segment that begins at address 0
     */
    public static MemorySegment all(Arena arena) {
        return segment(0, Long.MAX_VALUE, arena);
    }

    /**
     * Returns a part of memory as a segment that ends with an arena.
     *
     * @param addr its address
     * @param bytes its size
     * @param arena the arena, which does not own the memory
     * @return the segment
     */
    @SuppressWarnings("restricted")
    public static MemorySegment segment(long addr, long bytes, Arena arena) {
        return MemorySegment.ofAddress(addr).reinterpret(bytes, arena, null);
    }
}
