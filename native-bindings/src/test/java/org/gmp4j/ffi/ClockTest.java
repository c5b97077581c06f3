// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.gmp4j.ffi.linux.linux_h;
import org.gmp4j.ffi.linux.timespec;
import org.junit.jupiter.api.Test;

class ClockTest {
    /** Ours stands between two readings of the kernel's. */
    @Test
    void isClockMonotonic() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ts = timespec.allocate(arena);
            for (int i = 0; i < 1000; i++) {
                long before = kernel(ts);
                long ours = Clock.monotonicNanos();
                long after = kernel(ts);
                assertTrue(before <= ours && ours <= after, before + " " + ours + " " + after);
            }
        }
    }

    private static long kernel(MemorySegment ts) {
        assertEquals(0, linux_h.clock_gettime(linux_h.CLOCK_MONOTONIC, ts));
        return timespec.tv_sec(ts) * 1_000_000_000 + timespec.tv_nsec(ts);
    }
}
