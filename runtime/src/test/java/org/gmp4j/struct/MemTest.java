// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.gmp4j.ffi.gmp.m;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ring") // Runs with gmp.checkptr too.
class MemTest {
    @Test
    void recycledStructsAreZero() {
        long a = Mem.alloc(Struct.P, 1);
        assertEquals(0, a % (Mem.LINE / 2));
        P.ID.set(a, 99);
        P.TIMER0WHEN.setRelease(a, 5);
        Mem.recycle(Struct.P, a);
        long b = Mem.alloc(Struct.P, 1);
        assertEquals(a, b, "the last one given back");
        assertEquals(0, P.ID.get(b));
        assertEquals(0, P.TIMER0WHEN.getAcquire(b));
        assertNotEquals(b, Mem.alloc(Struct.P, 1));
        Mem.recycle(Struct.P, b);
    }

    @Test
    void structsDoNotOverlap() {
        long stride = Mem.stride(Struct.M);
        assertTrue(stride >= m.layout().byteSize());
        Set<Long> seen = new HashSet<>();
        List<Long> fresh = new ArrayList<>();
        long many = Mem.alloc(Struct.M, 10);
        for (int i = 0; i < 10; i++) {
            assertTrue(seen.add(many + i * stride));
        }
        for (int i = 0; i < 2_000; i++) {
            long a = Mem.alloc(Struct.M, 1);
            for (long s : seen) {
                assertTrue(i > 20 || Math.abs(a - s) >= stride);
            }
            assertTrue(seen.add(a));
            fresh.add(a);
        }
        fresh.forEach(a -> Mem.recycle(Struct.M, a));
    }

    @Test
    void structsOfAnArrayComeBackOneByOne() {
        int count = 5_000; // More than the structs that are taken singly leave room for.
        long stride = Mem.stride(Struct.P);
        long many = Mem.alloc(Struct.P, count);
        for (int i = 0; i < count; i++) {
            Mem.recycle(Struct.P, many + i * stride);
        }
        List<Long> again = new ArrayList<>();
        for (int i = count - 1; i >= 0; i--) {
            again.add(Mem.alloc(Struct.P, 1));
            assertEquals(many + i * stride, again.getLast());
        }
        again.forEach(a -> Mem.recycle(Struct.P, a));
    }

    @Test
    void checkedPointers() {
        assumeTrue(Mem.CHECKPTR);
        long a = Mem.alloc(Struct.P, 1);
        assertEquals(0, P.ID.get(a));
        assertThrows(IllegalStateException.class, () -> P.ID.get(a + 8));
        assertThrows(IllegalStateException.class, () -> M.ID.get(a), "a p is no m");
        assertThrows(IllegalStateException.class, () -> P.ID.get(0));
        assertThrows(IllegalStateException.class, () -> {
            long _ = Mem.LONG.get(a + 4);
        }, "would be rounded down");
        assertThrows(IllegalStateException.class, () -> {
            int _ = Mem.INT.get(a + 2);
        });
        assertThrows(IllegalStateException.class, () -> {
            long _ = Mem.LONG.get(a | Long.MIN_VALUE);
        });
        Mem.recycle(Struct.P, a);
    }

    @Test
    void ringsWrap() {
        LongRing slot = Struct.P.ring("runq", 4);
        long a = Mem.alloc(Struct.P, 1);
        long first = a + Struct.P.offset("runq");
        for (int i = -2; i < 2; i++) {
            slot.setOpaque(a, i, i);
        }
        for (int i = 0; i < 4; i++) {
            assertEquals(i < 2 ? i : i - 4, Mem.LONG.get(first + 8 * i));
            assertEquals(Mem.LONG.get(first + 8 * i), slot.getOpaque(a, i + 8));
        }
        assertEquals(0, Mem.LONG.get(first + 8 * 4));
        Mem.recycle(Struct.P, a);
    }

    @Test
    void slotsGoFromSchedulerToScheduler() {
        Object first = new Object();
        GSlots slots = new GSlots(first);
        long gp = slots.malg();
        assertEquals(GStatus.GDEAD, GStatus.readgstatus(gp));
        assertEquals(first, GSlots.owner(gp));
        Runnable fn = () -> { };
        GSlots.setFn(gp, fn);
        assertEquals(fn, GSlots.fn(gp));
        Set<Long> mine = new HashSet<>();
        slots.forEach(mine::add);
        assertEquals(Set.of(gp), mine);
        for (int i = 0; i < 5_000; i++) {
            assertTrue(mine.add(slots.malg()));
        }
        Set<Long> seen = new HashSet<>();
        slots.forEach(seen::add);
        assertEquals(mine, seen);
        slots.release();
        assertEquals(null, GSlots.fn(gp), "nothing is kept alive");
        assertEquals(null, GSlots.owner(gp));
        Set<Long> reused = useSlots();
        for (int i = 0; i < 20; i++) {
            assertEquals(reused, useSlots(), "slots of closed schedulers are used again");
        }
    }

    private static Set<Long> useSlots() {
        GSlots slots = new GSlots(new Object());
        Set<Long> used = new HashSet<>();
        for (int k = 0; k < 5_000; k++) {
            used.add(slots.malg());
        }
        slots.release();
        return used;
    }
}
