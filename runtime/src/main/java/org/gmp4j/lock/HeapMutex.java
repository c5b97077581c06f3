// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import java.lang.invoke.MethodHandles;

import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.HeapInt;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Throw;

/**
 * A {@link RuntimeMutex} whose word is on the Java heap, for channels and other objects that users make and the collector frees. It has the
 * states of RuntimeMutex and is correct for the same reasons. Only the sleep differs, because a Java object has no fixed address.
 *
 * <p>Sleepers share {@value #BUCKETS} futex words by identity hash. A bucket's word counts wake-ups. A sleeper reads the count, announces
 * itself in the lock (by an exchange to CONTENDED), and sleeps while the count is unchanged. A thread that unlocks a contended lock raises
 * the count and wakes all sleepers of the bucket. If the sleeper's exchange comes before the unlock, the unlocker sees CONTENDED. It raises
 * the count after the sleeper has read the count, so the sleeper wakes up. If the unlock comes first, the exchange finds FREE. Sleepers of
 * other locks in the same bucket wake in vain, and try again.
 */
public final class HeapMutex extends WaitObject {
    private static final int FREE = 0;
    private static final int HELD = 1;
    private static final int CONTENDED = 2;
    private static final int BUCKETS = 256;
    private static final long WORDS = Memory.map((long) BUCKETS * Mem.LINE);
    private static final int ACTIVE_SPIN = Runtime.getRuntime().availableProcessors() > 1 ? 4 : 0;
    private static final int SPIN_PAUSES = 30;

    private static final HeapInt<HeapMutex> WORD = HeapInt.of(MethodHandles.lookup(), HeapMutex.class, "word");

    private volatile int word;
    private final int rank;

    /** Makes a free lock of a rank of {@link LockRank}. */
    public HeapMutex(int rank) {
        this.rank = rank;
    }

    /** Takes the lock. */
    public void lock() {
        if (LockRank.CHECK) {
            LockRank.acquire(rank);
        }
        if (!WORD.compareAndSet(this, FREE, HELD)) {
            lockSlow();
        }
    }

    private void lockSlow() {
        for (int i = 0; i < ACTIVE_SPIN; i++) {
            for (int j = 0; j < SPIN_PAUSES; j++) {
                Thread.onSpinWait();
            }
            if (word == FREE && WORD.compareAndSet(this, FREE, HELD)) {
                return;
            }
        }
        sleep();
    }

    private void sleep() {
        long bucket = bucket();
        for (;;) {
            int count = Mem.INT.getAcquire(bucket); // Read before the exchange: see the class comment.
            if (WORD.getAndSet(this, CONTENDED) == FREE) {
                return;
            }
            Futex.await(bucket, count);
        }
    }

    /** Releases the lock. */
    public void unlock() {
        int old = WORD.getAndSet(this, FREE);
        if (old == FREE) {
            throw Throw.of("unlock of unlocked lock");
        }
        if (LockRank.CHECK) {
            LockRank.release(rank);
        }
        if (old == CONTENDED) {
            long bucket = bucket();
            int _ = Mem.INT.getAndAdd(bucket, 1);
            Futex.wake(bucket, Integer.MAX_VALUE);
        }
    }

    private long bucket() {
        int h = System.identityHashCode(this);
        return WORDS + (long) ((h ^ h >>> 8 ^ h >>> 16) & BUCKETS - 1) * Mem.LINE;
    }
}
