// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.util.Map;

/** A large segment that is refused because there is no memory for a larger table of mappings. */
final class FullTableProgram {
    /** As many entries as fit a table of 16,384; the next is one of 128 KiB. */
    private static final int ENTRIES = 12_288;
    private static final int PIECE = 60 << 10;
    private static volatile Object kept;

    private FullTableProgram() {
    }

    private static void fill() {
        Object[] head = null;
        try {
            for (;;) {
                head = new Object[] {head, new byte[PIECE]};
                kept = head;
            }
        } catch (OutOfMemoryError e) {
            return;
        }
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        Mcache memory = Mcache.create();
        MemorySegment[] all = new MemorySegment[ENTRIES];
        for (int i = 0; i < ENTRIES; i++) {
            all[i] = memory.allocate(SizeClasses.LARGEST + 1, 1);
        }
        fill();
        boolean refused = false;
        try {
            MemorySegment _ = memory.allocate(SizeClasses.LARGEST + 1, 1);
        } catch (OutOfMemoryError e) {
            refused = true;
        }
        kept = null;
        Field f = Heap.class.getDeclaredField("mappings");
        f.setAccessible(true);
        int noted = ((Map<?, ?>) f.get(memory.heap)).size();
        System.out.println("refused: " + refused + ", live: " + memory.stats().live() + ", noted: " + noted);
        System.exit(0);
    }
}
