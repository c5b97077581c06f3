// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class McacheTest {
    private static final int LARGE = 200_000;

    /** What is live, by address. */
    private static final class Model {
        private final TreeMap<Long, MemorySegment> live = new TreeMap<>();
        private final List<Long> order = new ArrayList<>();
        private final Random random;

        Model(long seed) {
            random = new Random(seed);
        }

        void add(MemorySegment s, long align) {
            long from = s.address();
            assertEquals(0, from % align);
            Map.Entry<Long, MemorySegment> below = live.floorEntry(from);
            assertTrue(below == null || below.getKey() + Math.max(1, below.getValue().byteSize()) <= from, "overlaps the one below");
            Map.Entry<Long, MemorySegment> above = live.ceilingEntry(from);
            assertTrue(above == null || from + Math.max(1, s.byteSize()) <= above.getKey(), "overlaps the one above");
            MemorySegment _ = live.put(from, s);
            order.add(from);
            s.fill((byte) from);
            stamp(s);
        }

        private static void stamp(MemorySegment s) {
            if (s.byteSize() >= Long.BYTES) {
                s.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, s.address());
                s.set(ValueLayout.JAVA_LONG_UNALIGNED, s.byteSize() - Long.BYTES, s.address());
            }
        }

        MemorySegment any() {
            int i = random.nextInt(order.size());
            long at = order.get(i);
            long last = order.removeLast();
            if (i < order.size()) {
                order.set(i, last);
            }
            MemorySegment s = live.remove(at);
            if (s.byteSize() >= Long.BYTES) {
                assertEquals(at, s.get(ValueLayout.JAVA_LONG_UNALIGNED, s.byteSize() - Long.BYTES));
            }
            return s;
        }

        long size() {
            return switch (random.nextInt(20)) {
                case 0 -> random.nextInt(LARGE);
                case 1, 2 -> random.nextInt(SizeClasses.LARGEST + 1);
                default -> random.nextInt(600);
            };
        }
    }

    private static void play(Mcache memory, boolean debug, int steps) {
        Model m = new Model(steps);
        for (int i = 0; i < steps; i++) {
            boolean grow = i / 2_000 % 2 == 0;
            if (m.order.isEmpty() || m.random.nextInt(10) < (grow ? 7 : 3)) {
                long align = 1L << m.random.nextInt(m.random.nextInt(10) == 0 ? 17 : 7);
                m.add(memory.allocate(m.size(), align), align);
            } else {
                memory.free(m.any());
            }
        }
        assertEquals(m.order.size(), memory.stats().live());
        while (!m.order.isEmpty()) {
            memory.free(m.any());
        }
        AllocatorStats f = memory.stats();
        assertEquals(0, f.live());
        assertEquals(0, f.liveBytes());
        assertEquals(f.allocations(), f.frees());
        assertTrue(debug || f.largeBytes() == 0, f::toString);
    }

    /** Against a model: from a goroutine, a plain thread and a virtual thread of the JDK. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void asAModel(boolean debug) throws InterruptedException {
        TestGmp.everywhere(() -> {
            try (Mcache memory = Mcache.builder().debug(debug).build()) {
                play(memory, debug, debug ? 2_000 : 20_000);
            }
        });
    }

    /** The next on the same P takes what was given back last. */
    @Test
    void theCacheFollowsTheP() {
        try (TestGmp gmp = TestGmp.procs(1); Mcache memory = Mcache.create()) {
            long[] at = new long[1];
            gmp.run(() -> {
                MemorySegment s = memory.allocate(100);
                at[0] = s.address();
                memory.free(s);
            });
            gmp.run(() -> {
                MemorySegment s = memory.allocate(97);
                assertEquals(at[0], s.address());
                memory.free(s);
            });
            MemorySegment outside = memory.allocate(100);
            assertNotEquals(at[0], outside.address());
            assertEquals(1, memory.stats().caches());
            memory.free(outside);
        }
    }

    /** However many are given back by one P and taken by another: no more moves than one a batch, and no more memory. */
    @Test
    void batches() {
        int rounds = 200;
        int each = 1_000;
        try (TestGmp gmp = TestGmp.procs(1); TestGmp other = TestGmp.procs(1); Mcache memory = Mcache.create()) {
            long mapped = 0;
            for (int i = 0; i < rounds; i++) {
                MemorySegment[] all = new MemorySegment[each];
                gmp.run(() -> {
                    for (int k = 0; k < each; k++) {
                        all[k] = memory.allocate(64);
                    }
                });
                other.run(() -> {
                    for (MemorySegment s : all) {
                        memory.free(s);
                    }
                });
                mapped = i == 0 ? memory.stats().mappedBytes() : mapped;
            }
            AllocatorStats f = memory.stats();
            int batch = SizeClasses.batch(SizeClasses.of(64, 1));
            assertTrue(f.batches() <= 2L * rounds * (each / batch + 2), f::toString);
            assertEquals(mapped, f.mappedBytes());
        }
    }

    /** Ps that die leave what they have: another gets it, and the kernel is asked for no more. */
    @Test
    void aPThatDies() {
        int blocks = 3 * SizeClasses.SPAN / 1024;
        try (TestGmp gmp = TestGmp.procs(1); Mcache memory = Mcache.builder().limit(Chunk.BYTES).build()) {
            for (int round = 0; round < 20; round++) {
                for (int procs = 4; procs >= 1; procs -= 3) {
                    int _ = gmp.gmp.setProcs(procs);
                    gmp.run(() -> {
                        org.gmp4j.sync.WaitGroup all = new org.gmp4j.sync.WaitGroup();
                        for (int g = 0; g < 8; g++) {
                            all.go(() -> {
                                Deque<MemorySegment> mine = new ArrayDeque<>();
                                for (int i = 0; i < blocks / 8; i++) {
                                    mine.add(memory.allocate(1024));
                                    org.gmp4j.Go.gosched();
                                }
                                mine.forEach(memory::free);
                            });
                        }
                        all.await();
                    });
                }
            }
            // All of the chunk, on the P that is left.
            gmp.run(() -> {
                List<MemorySegment> all = new ArrayList<>();
                for (int i = 0; i < Chunk.SPANS * SizeClasses.blocks(SizeClasses.of(1024, 1)); i++) {
                    all.add(memory.allocate(1024));
                }
                assertThrows(OutOfMemoryError.class, () -> memory.allocate(1024));
                all.forEach(memory::free);
            });
        }
    }

    /** A scheduler that ends leaves its blocks, and its caches go. */
    @Test
    void aSchedulerThatEnds() {
        try (Mcache memory = Mcache.builder().limit(Chunk.BYTES).build()) {
            for (int i = 0; i < 20; i++) {
                MemorySegment[] kept = new MemorySegment[1];
                try (TestGmp gmp = TestGmp.procs(1)) {
                    gmp.run(() -> {
                        for (int k = 0; k < 100; k++) {
                            kept[0] = memory.allocate(4096);
                            memory.free(kept[0]);
                        }
                        kept[0] = memory.allocate(4096);
                    });
                    assertEquals(1, memory.stats().caches());
                }
                AllocatorStats f = memory.stats();
                assertEquals(0, f.caches());
                assertEquals(1, f.live());
                assertEquals(101 * (i + 1), f.allocations());
                memory.free(kept[0]);
            }
            List<MemorySegment> all = new ArrayList<>();
            for (int i = 0; i < Chunk.SPANS * SizeClasses.blocks(SizeClasses.of(4096, 1)); i++) {
                all.add(memory.allocate(4096));
            }
            assertThrows(OutOfMemoryError.class, () -> memory.allocate(4096));
        }
    }

    @Test
    void badArguments() throws InterruptedException {
        try (Mcache memory = Mcache.create()) {
            TestGmp.everywhere(() -> {
                assertThrows(IllegalArgumentException.class, () -> memory.allocate(-1, 1));
                assertThrows(IllegalArgumentException.class, () -> memory.allocate(1, 0));
                assertThrows(IllegalArgumentException.class, () -> memory.allocate(1, -8));
                assertThrows(IllegalArgumentException.class, () -> memory.allocate(1, 24));
                assertThrows(IllegalArgumentException.class, () -> memory.allocate(1, Long.MIN_VALUE));
                assertThrows(NullPointerException.class, () -> memory.free(null));
                for (long size : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 4096, 1L << 47}) {
                    OutOfMemoryError e = assertThrows(OutOfMemoryError.class, () -> memory.allocate(size, 1L << 40));
                    assertTrue(e.getMessage().startsWith("Mcache: "), e.getMessage());
                }
                assertThrows(OutOfMemoryError.class, () -> memory.allocate(1, 1L << 62));
                assertThrows(OutOfMemoryError.class, () -> memory.allocate(SizeClasses.LARGEST + 1, 1L << 62));
            });
            assertEquals(0, memory.stats().live());
            assertEquals(0, memory.stats().mappedBytes());
            IllegalArgumentException e =
                    assertThrows(IllegalArgumentException.class, () -> Mcache.builder().limit(1 << 20).build());
            assertEquals("limit is 1048576 bytes: use 4194304 or more", e.getMessage());
        }
    }

    @Test
    void largeAndAligned() throws InterruptedException {
        try (Mcache memory = Mcache.builder().hugePages(true).build()) {
            TestGmp.everywhere(() -> {
                for (long align = 1; align <= 1 << 23; align *= 2) {
                    for (long size : new long[] {0, 1, SizeClasses.LARGEST, SizeClasses.LARGEST + 1, 65_537, 3 << 20}) {
                        MemorySegment s = memory.allocateZeroed(size, align);
                        assertEquals(0, s.address() % align);
                        assertEquals(size, s.byteSize());
                        if (size > 0) {
                            assertEquals(0, s.get(ValueLayout.JAVA_BYTE, size - 1));
                        }
                        s.fill((byte) -1);
                        memory.free(s);
                    }
                }
            });
            assertEquals(0, memory.stats().live());
            assertEquals(0, memory.stats().largeBytes());
        }
    }

    @Test
    void nothingAtAll() {
        try (Mcache memory = Mcache.create()) {
            MemorySegment a = memory.allocate(0);
            MemorySegment b = memory.allocate(0);
            assertNotEquals(a.address(), b.address());
            assertEquals(0, a.byteSize());
            memory.free(a);
            memory.free(b);
            assertThrows(IllegalStateException.class, () -> memory.free(a));
        }
    }

    @Test
    void whatIsNotToBeFreed() throws InterruptedException {
        try (Mcache memory = Mcache.create(); Mcache second = Mcache.create(); Arena arena = Arena.ofShared()) {
            TestGmp.everywhere(() -> {
                MemorySegment s = memory.allocate(100);
                MemorySegment large = memory.allocate(LARGE);
                List<MemorySegment> foreign = List.of(arena.allocate(16), MemorySegment.ofArray(new byte[9]), s.asSlice(16), s.asSlice(1),
                        second.allocate(16), MemorySegment.NULL, MemorySegment.ofAddress(s.address()));
                for (MemorySegment f : foreign) {
                    assertThrows(IllegalArgumentException.class, () -> memory.free(f), f::toString);
                }
                assertThrows(IllegalStateException.class, () -> memory.free(large.asSlice(4096)));
                memory.free(large.asSlice(0, 1));
                assertThrows(IllegalStateException.class, () -> memory.free(large));
                memory.free(s.asReadOnly());
            });
            assertEquals(0, memory.stats().live());
        }
    }

    @Test
    void doubleFree() throws InterruptedException {
        try (Mcache memory = Mcache.create()) {
            TestGmp.everywhere(() -> {
                for (int size = 1; size <= SizeClasses.LARGEST; size = size * 3 / 2 + 1) {
                    int n = 3 * SizeClasses.batch(SizeClasses.of(size, 1)); // In lists, in reserve, and in the central lists.
                    List<MemorySegment> all = new ArrayList<>();
                    for (int i = 0; i < n; i++) {
                        all.add(memory.allocate(size));
                    }
                    all.forEach(memory::free);
                    for (MemorySegment s : all) {
                        IllegalStateException e = assertThrows(IllegalStateException.class, () -> memory.free(s));
                        assertTrue(e.getMessage().startsWith("double free: the segment of " + size + " bytes at 0x"), e.getMessage());
                    }
                }
            });
            assertEquals(0, memory.stats().live());
        }
    }

    @Test
    void theLimit() throws InterruptedException {
        TestGmp.everywhere(() -> {
            try (Mcache memory = Mcache.builder().limit(2 * Chunk.BYTES).build()) {
                List<MemorySegment> all = new ArrayList<>();
                OutOfMemoryError e = assertThrows(OutOfMemoryError.class, () -> {
                    for (;;) {
                        all.add(memory.allocate(SizeClasses.LARGEST));
                    }
                });
                assertEquals(2 * Chunk.BYTES / SizeClasses.LARGEST, all.size());
                assertEquals("Mcache: 4194304 bytes more than the 8388608 that are mapped would be beyond its limit of 8388608",
                        e.getMessage());
                assertThrows(OutOfMemoryError.class, () -> memory.allocate(LARGE));
                assertThrows(OutOfMemoryError.class, () -> memory.allocate(1));
                memory.free(all.removeLast());
                all.add(memory.allocate(SizeClasses.LARGEST)); // It goes on.
                AllocatorStats f = memory.stats();
                assertEquals(all.size(), f.live());
                assertEquals(2L * Chunk.BYTES, f.mappedBytes());
                assertEquals(2L * Chunk.BYTES, f.liveBytes());
            }
        });
    }

    @Test
    void theEnd() throws InterruptedException {
        TestGmp.everywhere(() -> {
            Mcache memory = Mcache.create();
            MemorySegment s = memory.allocate(8);
            MemorySegment large = memory.allocate(LARGE);
            memory.close();
            memory.close();
            assertThrows(IllegalStateException.class, () -> s.get(ValueLayout.JAVA_BYTE, 0));
            assertThrows(IllegalStateException.class, () -> large.get(ValueLayout.JAVA_BYTE, 0));
            for (MemorySegment x : List.of(s, large)) {
                assertEquals("the Mcache is closed", assertThrows(IllegalStateException.class, () -> memory.free(x)).getMessage());
                assertEquals("the Mcache is closed",
                        assertThrows(IllegalStateException.class, () -> memory.allocate(x.byteSize())).getMessage());
            }
            AllocatorStats f = memory.stats();
            assertEquals(2, f.live());
            assertEquals(2, f.allocations());
            assertEquals(0, f.caches());
            assertThrows(IllegalStateException.class, memory::leaks);
            assertThrows(IllegalStateException.class, memory::check);
        });
    }

    /** Numbers are used again; the table of a P may still have the cache of an allocator that has ended. */
    @Test
    void oneAfterTheOther() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                for (int i = 0; i < 500; i++) {
                    try (Mcache memory = Mcache.create(); Mcache other = Mcache.create()) {
                        memory.free(memory.allocate(16));
                        other.free(other.allocate(16));
                        MemorySegment s = memory.allocateFrom("some text");
                        assertFalse(s.getString(0).isEmpty());
                    }
                }
            });
        }
    }
}
