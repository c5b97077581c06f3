// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.gmp4j.ffi.AddressSpace;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

class McacheDebugTest {
    private static MemorySegment first(Mcache memory) {
        return memory.allocate(100);
    }

    private static MemorySegment second(Mcache memory) {
        return memory.allocate(40);
    }

    private static String printedByClose(Mcache memory) {
        PrintStream usual = System.err;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        System.setErr(new PrintStream(out, true, StandardCharsets.UTF_8));
        try {
            memory.close();
        } finally {
            System.setErr(usual);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static Mcache debug() {
        return Mcache.builder().debug(true).build();
    }

    @Test
    void leaks() throws InterruptedException {
        TestGmp.everywhere(() -> {
            Mcache memory = debug();
            for (int i = 0; i < 3; i++) {
                MemorySegment _ = first(memory);
            }
            memory.free(first(memory));
            MemorySegment _ = second(memory);
            memory.free(second(memory));
            List<Leak> leaks = memory.leaks();
            assertEquals(2, leaks.size());
            assertEquals(300, leaks.get(0).bytes());
            assertEquals(3, leaks.get(0).count());
            assertEquals("first", leaks.get(0).site().getFirst().getMethodName());
            assertEquals(40, leaks.get(1).bytes());
            assertEquals("second", leaks.get(1).site().getFirst().getMethodName());
            String printed = printedByClose(memory);
            assertTrue(printed.startsWith("gmp4j: an Mcache was closed with segments that were not freed"), printed);
            assertTrue(printed.contains("3 segments, 300 bytes, allocated\n\tat " + McacheDebugTest.class.getName() + ".first("), printed);
            assertTrue(printed.contains("1 segment, 40 bytes, allocated\n\tat " + McacheDebugTest.class.getName() + ".second("), printed);
            assertEquals(leaks, memory.leaks());
        });
    }

    @Test
    void nothingIsPrintedWithoutLeaks() {
        Mcache memory = debug();
        memory.free(first(memory));
        memory.check();
        assertEquals("", printedByClose(memory));
        assertEquals(List.of(), memory.leaks());
    }

    @Test
    void useAfterFree() throws InterruptedException {
        TestGmp.everywhere(() -> {
            try (Mcache memory = debug()) {
                for (long size : new long[] {1, 100, 1 << 20}) {
                    MemorySegment s = memory.allocate(size);
                    assertEquals((byte) 0xCD, s.get(ValueLayout.JAVA_BYTE, size - 1));
                    memory.free(s);
                    assertThrows(IllegalStateException.class, () -> s.get(ValueLayout.JAVA_BYTE, 0));
                    assertThrows(IllegalStateException.class, () -> s.fill((byte) 0));
                }
            }
        });
    }

    /** Also when others have the block by now. */
    @Test
    void doubleFree() {
        try (Mcache memory = debug(); Mcache other = debug(); Arena arena = Arena.ofShared()) {
            MemorySegment s = first(memory);
            memory.free(s);
            IllegalStateException e = assertThrows(IllegalStateException.class, () -> memory.free(s));
            assertTrue(e.getMessage().matches("(?s)double free: the segment of 100 bytes at 0x[0-9a-f]+, allocated\n\tat [^\n]*first\\(.*\n"
                    + "and freed\n\tat [^\n]*doubleFree\\(.*"), e.getMessage());
            boolean again = false;
            for (int i = 0; i < 10_000; i++) {
                MemorySegment t = first(memory);
                if (t.address() == s.address()) {
                    again = true;
                    assertThrows(IllegalStateException.class, () -> memory.free(s));
                }
                memory.free(t);
            }
            assertTrue(again);
            MemorySegment live = first(memory);
            for (MemorySegment x : List.of(first(other), arena.allocate(8), MemorySegment.ofArray(new int[1]), live.asSlice(8))) {
                assertThrows(IllegalArgumentException.class, () -> memory.free(x));
            }
            memory.free(live);
            memory.check();
            other.leaks().forEach(l -> assertEquals(1, l.count()));
            printedByClose(other);
        }
    }

    /** As native code would, which has the address. */
    private static void poke(long address) {
        AddressSpace.ALL.set(ValueLayout.JAVA_BYTE, address, (byte) 1);
    }

    @Test
    void writtenBehindItsEnd() {
        Mcache memory = debug();
        MemorySegment s = first(memory);
        poke(s.address() + 100);
        IllegalStateException e = assertThrows(IllegalStateException.class, memory::check);
        assertTrue(e.getMessage().startsWith("written behind its end, at offset 100: the segment of 100 bytes at 0x"), e.getMessage());
        assertTrue(e.getMessage().contains("first("), e.getMessage());
        e = assertThrows(IllegalStateException.class, () -> memory.free(s));
        assertTrue(e.getMessage().startsWith("written behind its end, at offset 100"), e.getMessage());
        assertEquals(List.of(), memory.leaks()); // It is free all the same.
        memory.check();
        memory.close();
    }

    @Test
    void writtenAfterItWasFreed() {
        Mcache memory = debug();
        MemorySegment s = first(memory);
        memory.free(s);
        poke(s.address() + 3);
        IllegalStateException e = assertThrows(IllegalStateException.class, memory::check);
        assertTrue(e.getMessage().startsWith("written after it was freed, at offset 3: the segment of 100 bytes at 0x"), e.getMessage());
        assertTrue(e.getMessage().contains("and freed\n\tat " + McacheDebugTest.class.getName()), e.getMessage());
        e = assertThrows(IllegalStateException.class, () -> {
            for (int i = 0; i < 10_000; i++) {
                memory.free(second(memory));
            }
        });
        assertTrue(e.getMessage().startsWith("written after it was freed, at offset 3"), e.getMessage());
        MemorySegment late = second(memory);
        memory.free(late);
        poke(late.address());
        String printed = printedByClose(memory);
        assertTrue(printed.startsWith("gmp4j: written after it was freed, at offset 0: the segment of 40 bytes"), printed);
    }

    /** Blocks that rest are bounded: memory comes back. */
    @Test
    void restingEnds() {
        try (Mcache memory = Mcache.builder().debug(true).limit(40 << 20).build()) {
            for (int i = 0; i < 60; i++) {
                memory.free(memory.allocate(1 << 20));
            }
            for (int i = 0; i < 4_000; i++) {
                memory.free(memory.allocate(SizeClasses.LARGEST / 2));
            }
            memory.check();
        }
    }

    @Test
    void theEnd() {
        Mcache memory = debug();
        MemorySegment s = first(memory);
        printedByClose(memory);
        assertThrows(IllegalStateException.class, () -> s.get(ValueLayout.JAVA_BYTE, 0));
        assertEquals("the Mcache is closed", assertThrows(IllegalStateException.class, () -> memory.free(s)).getMessage());
        assertEquals("the Mcache is closed", assertThrows(IllegalStateException.class, () -> first(memory)).getMessage());
        assertEquals("the Mcache is closed", assertThrows(IllegalStateException.class, memory::check).getMessage());
    }
}
