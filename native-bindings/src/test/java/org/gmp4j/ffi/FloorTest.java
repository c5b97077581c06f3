// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

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
            MemorySegment ring = p.allocate(arena);
            p.runqhead(ring, -5);
            p.runqtail(ring, -5);
            shims_h.gmp_floor_pushpop(ring.address(), 1000);
            assertEquals(995, p.runqhead(ring));
            assertEquals(995, p.runqtail(ring));
            assertEquals(0, p.runnext(ring));
        }
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
