// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Throw;
import org.gmp4j.testing.NoHalt;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One contract for {@link RuntimeMutex} and {@link HeapMutex}. */
@ExtendWith(NoHalt.class)
class MutexTest {
    private static final int THREADS = 8;
    private static final int ROUNDS = 30_000;

    abstract static class Contract {
        abstract void lock();

        abstract void unlock();

        /** More threads than CPUs, so that holders get descheduled and waiters sleep. */
        @Stress
        void oneAtATime() throws InterruptedException {
            long[] count = new long[1];
            new Threads().add(THREADS, "locker", () -> {
                for (int i = 0; i < ROUNDS; i++) {
                    lock();
                    long seen = count[0];
                    if (i % 1_000 == 0) {
                        Thread.yield();
                    }
                    count[0] = seen + 1;
                    unlock();
                }
            }).run();
            assertEquals((long) THREADS * ROUNDS, count[0]);
        }

        @Test
        void unlockOfUnlocked() {
            Throw t = assertThrows(Throw.class, this::unlock);
            assertEquals("unlock of unlocked lock", t.getMessage());
            lock();
            unlock();
            assertThrows(Throw.class, this::unlock);
        }
    }

    @Nested
    class OffHeap extends Contract {
        private long word;

        @BeforeEach
        void map() {
            word = Memory.map(4096);
        }

        @AfterEach
        void unmap() {
            Memory.unmap(word, 4096);
        }

        @Override
        void lock() {
            RuntimeMutex.lock(word, LockRank.SCHED);
        }

        @Override
        void unlock() {
            RuntimeMutex.unlock(word, LockRank.SCHED);
        }

        @Test
        void tryLock() {
            assertFalse(RuntimeMutex.isLocked(word));
            assertTrue(RuntimeMutex.tryLock(word, LockRank.SCHED));
            assertTrue(RuntimeMutex.isLocked(word));
            assertFalse(RuntimeMutex.tryLock(word, LockRank.SCHED));
            unlock();
            assertFalse(RuntimeMutex.isLocked(word));
        }
    }

    @Nested
    class OnHeap extends Contract {
        private final HeapMutex mutex = new HeapMutex(LockRank.HCHAN);

        @Override
        void lock() {
            mutex.lock();
        }

        @Override
        void unlock() {
            mutex.unlock();
        }

        /** Many locks share a futex word: their sleepers must not take each other's wake-ups. */
        @Stress
        void strangersInOneBucket() throws InterruptedException {
            HeapMutex[] locks = new HeapMutex[1_000];
            long[] counts = new long[locks.length];
            for (int i = 0; i < locks.length; i++) {
                locks[i] = new HeapMutex(LockRank.HCHAN);
            }
            new Threads().add(THREADS, "locker", () -> {
                for (int i = 0; i < ROUNDS; i++) {
                    int k = i * 7 % 10 * 100;
                    locks[k].lock();
                    counts[k]++;
                    if (i % 5_000 == 0) {
                        Thread.yield();
                    }
                    locks[k].unlock();
                }
            }).run();
            long sum = 0;
            for (long c : counts) {
                sum += c;
            }
            assertEquals((long) THREADS * ROUNDS, sum);
        }
    }
}
