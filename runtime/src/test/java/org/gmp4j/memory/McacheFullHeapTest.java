// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;

import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** What must not leave a lock held. */
class McacheFullHeapTest {
    /** What an allocator does first, it does when there is memory for that. */
    @Test
    void firstUse() {
        ChildJvm.Result r = new ChildJvm(FullHeapProgram.class).with("-Xmx24m").run();
        assertEquals("freed: true\nthe lock is free: true\ncaches left: 0\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** A mapping that was undone must not be undone again when the allocator is closed: it may belong to other code by then. */
    @Test
    void noMemoryForALargerTable() {
        ChildJvm.Result r = new ChildJvm(FullTableProgram.class).with("-Xmx24m").run();
        assertEquals("refused: true, live: 12288, noted: 12288\n", r.out(), r::toString);
    }

    /** A block that is written to after it was freed may be freed again, unseen: that spoils blocks, but not the lists' lock. */
    @Test
    void unseenDoubleFrees() {
        try (Mcache memory = Mcache.create()) {
            MemorySegment s = memory.allocate(64, 8);
            int more = 2 * Chunk.BYTES / 64;
            for (int i = 0; i < more; i++) {
                memory.free(s);
                s.fill((byte) 0);
            }
            assertEquals(64, memory.allocate(64, 8).byteSize());
        }
    }
}
