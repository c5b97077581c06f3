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
 *  1  held, nobody sleeps
 *  2  held, someone may sleep: the holder calls the kernel when it gives the lock back
 * </pre>
 *
 * <p>Lock is a CAS 0 to 1 (acquire); unlock an exchange to 0 (release) that pairs with it. A waiter spins briefly, then
 * exchanges the word to 2 and sleeps while it is 2. Whoever leaves the kernel takes the lock as 2 as well, since others
 * may still sleep: one kernel call too many at the end of a queue, never one too few.
 *
 * <p>Rejected: a queue lock (MCS) hands over in order, but a thread that the kernel has descheduled then holds up all
 * behind it; the sections here are some ten instructions long and throughput matters more than order.
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
            Futex.await(addr, CONTENDED); // Back at once if the word has changed; spurious wakes only go round again.
        }
    }

    /** Runs all code of a contended lock, on a lock that is free, so that it does not sleep: see {@code proc.Warm}. */
    public static void rehearse(long addr) {
        lock(addr, LockRank.SUDOG);
        unlock(addr, LockRank.SUDOG);
        lockSlow(addr);
        Mem.INT.setVolatile(addr, FREE);
        sleep(addr);
        if (LockRank.CHECK) {
            LockRank.acquire(LockRank.SUDOG);
        }
        unlock(addr, LockRank.SUDOG);
    }

    /** Takes the lock if it is free. */
    public static boolean tryLock(long addr, int rank) {
        if (!Mem.INT.compareAndSet(addr, FREE, HELD)) {
            return false;
        }
        if (LockRank.CHECK) {
            LockRank.acquire(rank);
        }
        return true;
    }

    /** Gives the lock back. */
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

    /** Whether anyone holds it; for assertions. */
    public static boolean isLocked(long addr) {
        return Mem.INT.getVolatile(addr) != FREE;
    }
}
