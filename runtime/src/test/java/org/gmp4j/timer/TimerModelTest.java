// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Timers on several heaps under a clock of the test's, beside a model that knows of each timer only when it is due: random
 * adds, stops, resets, runs of any heap, and heaps that die and leave their alarms to another.
 */
class TimerModelTest {
    private long now = 1;
    private TimerHeap here;

    /** A timer that counts. */
    private final class Counted extends RuntimeTimer {
        private int fired;

        private Counted() {
            super(new HeapMutex(LockRank.SEMA));
        }

        @Override
        void add(Alarm a) {
            here.lock();
            here.push(a);
            here.unlock();
        }

        @Override
        protected void look(long at) {
            if (when != 0 && at >= when) {
                when = 0;
                fired++;
                disarm();
            } else if (when != 0) {
                arm();
            }
            lock.unlock();
        }

        @Override
        public boolean stop() {
            boolean pending = when != 0;
            when = 0;
            disarm();
            return pending;
        }

        @Override
        public boolean reset(long nanos) {
            boolean pending = when != 0;
            when = now + nanos;
            arm();
            return pending;
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 3, 1", "1, 200, 2", "3, 5, 3", "4, 100, 4", "2, 2000, 5"})
    void model(int heaps, int timers, int seed) {
        Random random = new Random(seed);
        List<TimerHeap> all = new ArrayList<>();
        for (int i = 0; i < heaps; i++) {
            all.add(new TimerHeap(Mem.alloc(Struct.P, 1)));
        }
        List<Counted> counted = new ArrayList<>();
        long[] due = new long[timers];
        int[] fired = new int[timers];
        for (int i = 0; i < timers; i++) {
            counted.add(new Counted());
        }
        int most = 0;
        for (int step = 0; step < 200_000; step++) {
            here = all.get(random.nextInt(heaps));
            int i = random.nextInt(timers);
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> {
                    assertEquals(due[i] != 0, counted.get(i).stop());
                    due[i] = 0;
                }
                case 3, 4, 5, 6, 7, 8 -> {
                    long nanos = 1 + random.nextInt(1 << random.nextInt(12));
                    assertEquals(due[i] != 0, counted.get(i).reset(nanos));
                    due[i] = now + nanos;
                }
                case 9 -> {
                    now += random.nextInt(20);
                    int ran = 0;
                    for (TimerHeap h : all) {
                        here = h; // The thread that runs a heap adds to it again.
                        ran += h.run(now);
                    }
                    for (int j = 0; j < timers; j++) {
                        if (due[j] != 0 && due[j] <= now) {
                            due[j] = 0;
                            fired[j]++;
                        }
                        assertEquals(fired[j], counted.get(j).fired, "timer " + j + " after " + ran + " alarms at " + now);
                    }
                }
                case 10 -> assertTrue(sleepUntil(all) <= first(due), "who sleeps now oversleeps a timer");
                default -> {
                    TimerHeap dies = all.get(random.nextInt(heaps));
                    if (dies != here && random.nextInt(10) == 0) {
                        dies.moveTo(here);
                        assertFalse(dies.busy());
                        all.set(all.indexOf(dies), new TimerHeap(dies.pp));
                    }
                }
            }
            int size = 0;
            for (TimerHeap h : all) {
                size += P.TIMERSLEN.getOpaque(h.pp);
            }
            most = Math.max(most, size);
        }
        assertTrue(most <= timers + heaps * (40 + timers), "zombies pile up: " + most + " entries for " + timers + " timers");
        counted.forEach(Counted::stop);
        for (TimerHeap h : all) {
            assertFalse(h.pending());
            assertEquals(0, h.next());
            assertFalse(h.busy());
        }
    }

    /** A heap is moved while others, which hold no P, sweep it and look for what is pending: all arrive, once. */
    @Stress
    void movedWhileOthersLook() throws InterruptedException {
        TimerHeap to = new TimerHeap(Mem.alloc(Struct.P, 1));
        TimerHeap from = new TimerHeap(Mem.alloc(Struct.P, 1));
        AtomicBoolean done = new AtomicBoolean();
        int rounds = 200;
        int each = 2_000;
        Threads looking = new Threads().add(2, "look", () -> {
            while (!done.get()) {
                from.next();
                from.pending();
            }
        }).start();
        Counted timer = new Counted();
        for (int i = 0; i < rounds; i++) {
            List<Alarm> alarms = new ArrayList<>();
            for (int j = 0; j < each; j++) {
                Alarm a = new Alarm(timer, 1 + j);
                alarms.add(a);
                from.lock();
                from.push(a);
                from.unlock();
            }
            for (int j = 0; j < each; j += 2) {
                alarms.get(j).bury();
            }
            from.moveTo(to);
        }
        done.set(true);
        looking.join();
        assertEquals(rounds * each / 2, P.TIMERSLEN.getOpaque(to.pp));
        assertFalse(from.busy());
        assertTrue(to.pending());
    }

    private static long first(long[] due) {
        long first = Long.MAX_VALUE;
        for (long d : due) {
            first = d == 0 ? first : Math.min(first, d);
        }
        return first;
    }

    private static long sleepUntil(List<TimerHeap> all) {
        long first = Long.MAX_VALUE;
        for (TimerHeap h : all) {
            long next = h.next();
            first = next == 0 ? first : Math.min(first, next);
        }
        return first;
    }
}
