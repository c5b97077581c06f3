// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;

/** No two live segments overlap: each is full of its owner's number until any goroutine frees it. */
class McacheStressTest {
    private static final int SLOTS = 64;

    /** Segments on their way from one to another, and their numbers. */
    private record Parcel(MemorySegment segment, long number) {
        static Parcel of(Mcache memory, RandomGenerator random, AtomicInteger numbers) {
            long size = Long.BYTES * (1L + random.nextInt(random.nextInt(50) == 0 ? 5_000 : 40));
            MemorySegment s = memory.allocate(size, Long.BYTES);
            long number = numbers.incrementAndGet() * 0x9E37_79B9_7F4A_7C15L;
            for (long i = 0; i < size; i += Long.BYTES) {
                s.set(ValueLayout.JAVA_LONG, i, number);
            }
            return new Parcel(s, number);
        }

        void giveBack(Mcache memory) {
            for (long i = 0; i < segment.byteSize(); i += Long.BYTES) {
                long there = segment.get(ValueLayout.JAVA_LONG, i);
                if (there != number) {
                    throw new AssertionError("at offset " + i + " of " + segment + " is the number of another segment");
                }
            }
            memory.free(segment);
        }
    }

    private static void exchange(Mcache memory, AtomicReferenceArray<Parcel> slots, AtomicInteger numbers, int seed, int steps,
            boolean blocks) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        List<Parcel> mine = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            Parcel made = Parcel.of(memory, random, numbers);
            switch (random.nextInt(4)) {
                case 0 -> mine.add(made);
                case 1 -> made.giveBack(memory);
                default -> {
                    Parcel other = slots.getAndSet(random.nextInt(SLOTS), made);
                    if (other != null) {
                        other.giveBack(memory);
                    }
                }
            }
            while (mine.size() > random.nextInt(200)) {
                mine.removeLast().giveBack(memory);
            }
            if (blocks && random.nextInt(100) == 0) {
                try {
                    int _ = Go.blocking(() -> {
                        Parcel inside = Parcel.of(memory, random, numbers);
                        Thread.yield();
                        inside.giveBack(memory);
                        return 0;
                    });
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }
        mine.forEach(p -> p.giveBack(memory));
    }

    private static void stress(int procs, int goroutines, int threads, int steps, boolean resize, boolean blocks)
            throws InterruptedException {
        AtomicReferenceArray<Parcel> slots = new AtomicReferenceArray<>(SLOTS);
        AtomicInteger numbers = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        Mcache memory = Mcache.create();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(procs).quantum(Duration.ofNanos(200_000)))) {
            Threads others = new Threads();
            for (int i = 0; i < threads; i++) {
                int seed = 1_000 + i;
                others.add("plain", () -> exchange(memory, slots, numbers, seed, steps, false));
            }
            if (resize) {
                others.add("resize", () -> {
                    for (int i = 0; !done.get(); i++) {
                        int _ = gmp.gmp.setProcs(1 + i % 4);
                        Thread.sleep(1);
                    }
                });
            }
            others.start();
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                for (int i = 0; i < goroutines; i++) {
                    int seed = i;
                    all.go(() -> exchange(memory, slots, numbers, seed, steps, blocks));
                }
                all.await();
            });
            done.set(true);
            others.join();
            for (int i = 0; i < SLOTS; i++) {
                if (slots.get(i) != null) {
                    slots.get(i).giveBack(memory);
                }
            }
        }
        AllocatorStats f = memory.stats();
        assertEquals(0, f.live(), f::toString);
        assertEquals(0, f.caches());
        assertEquals(numbers.get(), f.allocations());
        memory.close();
    }

    @Stress
    void oneP() throws InterruptedException {
        stress(1, 8, 0, 20_000, false, false);
    }

    @Stress
    void fourPsAndPlainThreads() throws InterruptedException {
        stress(4, 8, 2, 20_000, false, false);
    }

    @Stress
    void psComeAndGo() throws InterruptedException {
        stress(4, 8, 1, 20_000, true, false);
    }

    @Stress
    void systemCalls() throws InterruptedException {
        stress(2, 8, 1, 5_000, false, true);
    }

    /** A goroutine at work when it is closed gets an exception, and the process lives. */
    @Stress
    void closeWhileInUse() throws InterruptedException {
        int rounds = 30;
        boolean accesses = Runtime.version().feature() >= 27; // Before, JDK-8364167 may crash a JVM whose threads access closed segments.
        try (TestGmp gmp = TestGmp.with(b -> b.procs(3).quantum(Duration.ofNanos(200_000)))) {
            AtomicInteger ended = new AtomicInteger();
            for (int r = 0; r < rounds; r++) {
                Mcache memory = Mcache.create();
                AtomicInteger at = new AtomicInteger();
                Runnable use = () -> {
                    int i = 0;
                    try {
                        for (;; i++) {
                            MemorySegment s = memory.allocate(16 + i % 2_000);
                            MemorySegment t = memory.allocate(i % 100 == 0 ? 40_000 : 24);
                            if (accesses) {
                                s.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, i);
                            }
                            memory.free(s);
                            memory.free(t);
                            if (i == 200) {
                                at.incrementAndGet();
                            }
                        }
                    } catch (IllegalStateException e) {
                        ended.incrementAndGet();
                        at.incrementAndGet();
                    }
                };
                WaitGroup all = new WaitGroup();
                all.add(3);
                for (int i = 0; i < 3; i++) {
                    gmp.go(() -> {
                        try {
                            use.run();
                        } finally {
                            all.done();
                        }
                    });
                }
                Threads plain = new Threads().add("plain", use::run).start();
                while (at.get() < 4) {
                    Thread.onSpinWait();
                }
                memory.close();
                all.await();
                plain.join();
                assertEquals(0, memory.stats().caches());
            }
            assertEquals(4 * rounds, ended.get());
        }
    }
}
