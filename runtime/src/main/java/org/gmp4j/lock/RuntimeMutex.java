// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import org.gmp4j.ffi.Futex;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Throw;

/**
 * A lock inside the runtime, on a 32-bit futex word off-heap. It blocks the thread, never the goroutine.
 *
 * <pre>
 *  0  free
 *  1  held, no thread sleeps
 *  2  held, a thread may sleep: the holder wakes one when it releases the lock
 * </pre>
 *
 * <p>Lock is a CAS from 0 to 1 (acquire). Unlock is an exchange to 0 (release), which pairs with it. A waiter spins briefly, then exchanges
 * the word to 2 and sleeps while it is 2. A thread that has slept also takes the lock as 2, because others may still sleep. So the last of
 * several sleepers makes a needless kernel call when it releases the lock, but no wake-up is missing.
 *
 * <p>Rejected: a queue lock (MCS), which hands over in order. A thread that has lost its CPU would delay all threads behind it. The
 * critical sections are some ten instructions long, and throughput matters more than order.
 */
public final class RuntimeMutex {
    private static final int FREE = 0;
    private static final int HELD = 1;
    private static final int CONTENDED = 2;

    private static final int ACTIVE_SPIN = Runtime.getRuntime().availableProcessors() > 1 ? 4 : 0;
    private static final int SPIN_PAUSES = 30;

    private RuntimeMutex() {
    }

    /** Takes the lock; {@code rank} is its place in {@link LockRank}. */
    public static void lock(long addr, int rank) {
        if (LockRank.CHECK) {
            LockRank.acquire(rank);
        }
        if (!Mem.INT.compareAndSet(addr, FREE, HELD)) {
            lockSlow(addr);
        }
    }

    private static void lockSlow(long addr) {
        for (int i = 0; i < ACTIVE_SPIN; i++) {
            for (int j = 0; j < SPIN_PAUSES; j++) {
                Thread.onSpinWait();
            }
            if (Mem.INT.getOpaque(addr) == FREE && Mem.INT.compareAndSet(addr, FREE, HELD)) {
                return;
            }
        }
        sleep(addr);
    }

    private static void sleep(long addr) {
        while (Mem.INT.getAndSet(addr, CONTENDED) != FREE) {
            Futex.await(addr, CONTENDED); // Returns at once if the word has changed. A spurious wake-up only repeats the loop.
        }
    }

    /** Takes the lock if it is free. Returns whether it did. */
    public static boolean tryLock(long addr, int rank) {
        if (!Mem.INT.compareAndSet(addr, FREE, HELD)) {
            return false;
        }
        if (LockRank.CHECK) {
            LockRank.acquire(rank);
        }
        return true;
    }

    /** Releases the lock. */
    public static void unlock(long addr, int rank) {
        int old = Mem.INT.getAndSet(addr, FREE);
        if (old == FREE) {
            throw Throw.of("unlock of unlocked lock");
        }
        if (LockRank.CHECK) {
            LockRank.release(rank);
        }
        if (old == CONTENDED) {
            Futex.wake(addr, 1);
        }
    }

    /** Returns whether a thread holds the lock; for tests. */
    public static boolean isLocked(long addr) {
        return Mem.INT.getVolatile(addr) != FREE;
    }
}
