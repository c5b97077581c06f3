// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.gmp.p;
import org.gmp4j.ffi.gmp.shims_h;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The C ring that benchmarks compare with. That the right number of slots moves, it checks itself (-1 if not). */
class FloorTest {
    @BeforeAll
    static void load() {
        Shims.load();
    }

    @Test
    void pushAndPopWrapAround() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ring = arena.allocate(p.layout());
            VarHandle head = field("runqhead");
            VarHandle tail = field("runqtail");
            head.set(ring, 0L, -5);
            tail.set(ring, 0L, -5);
            shims_h.gmp_floor_pushpop(ring.address(), 1000);
            assertEquals(995, (int) head.get(ring, 0L));
            assertEquals(995, (int) tail.get(ring, 0L));
            assertEquals(0L, (long) field("runnext").get(ring, 0L));
        }
    }

    private static VarHandle field(String name) {
        return p.layout().varHandle(MemoryLayout.PathElement.groupElement(name));
    }

    @Test
    void stealsOfEverySize() {
        for (int batch = 1; batch <= 128; batch++) {
            long nanos = shims_h.gmp_floor_steal(100, batch);
            assertTrue(nanos >= 0 && nanos < 1_000_000_000, batch + ": " + nanos);
        }
        assertEquals(-1, shims_h.gmp_floor_steal(100, 0));
        assertEquals(-1, shims_h.gmp_floor_steal(100, 129));
    }

    @Test
    void failedProbe() {
        long nanos = shims_h.gmp_floor_failed_probe(1000);
        assertTrue(nanos > 0 && nanos < 1_000_000_000, nanos + " ns");
    }
}
