// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SizeClassesTest {
    @Test
    void sizes() {
        assertEquals(40, SizeClasses.COUNT);
        assertEquals(SizeClasses.LEAST, SizeClasses.size(0));
        assertEquals(80, SizeClasses.size(4));
        assertEquals(SizeClasses.LARGEST, SizeClasses.size(SizeClasses.COUNT - 1));
        for (int c = 0; c < SizeClasses.COUNT; c++) {
            assertEquals(0, SizeClasses.size(c) % SizeClasses.LEAST);
            assertTrue(c == 0 || SizeClasses.size(c) > SizeClasses.size(c - 1));
            assertTrue(SizeClasses.batch(c) >= 2 && SizeClasses.batch(c) <= SizeClasses.blocks(c), "class " + c);
            assertTrue(SizeClasses.blocks(c) * SizeClasses.size(c) >= SizeClasses.SPAN * 7 / 8, "class " + c);
        }
    }

    /** The smallest block that is large enough, of those that stand at a multiple of the alignment. */
    @Test
    void theSmallestThatFits() {
        for (int align = 1; align <= SizeClasses.LARGEST; align *= 2) {
            int c = 0;
            for (int bytes = 0; bytes <= SizeClasses.LARGEST; bytes++) {
                while (SizeClasses.size(c) < bytes || align > SizeClasses.LEAST && SizeClasses.size(c) % align != 0) {
                    c++;
                }
                assertEquals(c, SizeClasses.of(bytes, align));
            }
        }
        assertEquals(SizeClasses.NONE, SizeClasses.of(SizeClasses.LARGEST + 1, 1));
        assertEquals(SizeClasses.NONE, SizeClasses.of(1, 2 * SizeClasses.LARGEST));
        assertEquals(SizeClasses.NONE, SizeClasses.of(Long.MAX_VALUE, 1));
    }

    @Test
    void aFifthIsWasteAtMost() {
        for (int bytes = 65; bytes <= SizeClasses.LARGEST; bytes++) {
            int size = SizeClasses.size(SizeClasses.of(bytes, 1));
            assertTrue((size - bytes) * 5 < size, bytes + " in " + size);
        }
    }

    /** The multiplication that stands for a division. */
    @Test
    void whereBlocksBegin() {
        for (int c = 0; c < SizeClasses.COUNT; c++) {
            int size = SizeClasses.size(c);
            for (int offset = 0; offset < SizeClasses.SPAN; offset++) {
                boolean begins = offset % size == 0 && offset + size <= SizeClasses.SPAN;
                if (begins != SizeClasses.begins(c, offset)) {
                    assertEquals(begins, SizeClasses.begins(c, offset), "offset " + offset + " of blocks of " + size);
                }
            }
        }
    }
}
