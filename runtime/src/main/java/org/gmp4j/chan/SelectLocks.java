// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import java.util.Arrays;

import org.gmp4j.lock.WaitObject;
import org.gmp4j.sched.Park;
import org.jspecify.annotations.Nullable;

/**
 * The channels of a select. After the sort each is there once, in the order of the numbers. All selects take locks in this order, so they
 * do not deadlock. Not thread-safe; belongs to one {@link Selectgo}.
 */
final class SelectLocks {
    /** The most channels that an insertion may shift. A channel that would shift more is appended, and {@link #sort} sorts all. */
    private static final int MOVES = 32;

    /**
     * Releases the locks once the waiter is parked. As soon as the first lock is free the waiter may be woken. It then takes all locks
     * again, so it waits for the locks that this function still holds. Once the last lock is free the waiter may change every field of the
     * {@link SelectLocks}, so this function reads none after that.
     */
    static final Park.Unlock UNLOCK = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object locks) {
            ((SelectLocks) locks).unlockAll();
            return true;
        }

        @Override
        @SuppressWarnings("NullAway") // locks is the object that was passed to park.
        public @Nullable WaitObject waitsFor(@Nullable Object locks, int i) {
            SelectLocks l = (SelectLocks) locks;
            return i < l.lockCount ? l.locks[i].lock : null;
        }
    };

    private Hchan[] locks;
    private int lockCount;
    /** Whether the locks are in order, without duplicates. If not, {@link #sort} precedes {@link #lockAll}. */
    private boolean sorted = true;

    SelectLocks(int few) {
        locks = new Hchan[few];
    }

    void grow(int n) {
        locks = Arrays.copyOf(locks, n);
    }

    void clear() {
        Arrays.fill(locks, 0, lockCount, null);
        lockCount = 0;
        sorted = true;
    }

    /** Returns an upper bound of the number of channels, which is exact once they are sorted. */
    int count() {
        return lockCount;
    }

    /** Returns the channel whose lock is taken first. */
    Hchan first() {
        return locks[0];
    }

    /** Adds a channel. The caller has made room. A second entry of the same channel is dropped here or by {@link #sort}. */
    void add(Hchan c) {
        int i = lockCount;
        int least = Math.max(0, i - MOVES);
        while (i > least && locks[i - 1].order() > c.order()) {
            i--;
        }
        if (!sorted || i != 0 && locks[i - 1].order() > c.order()) {
            sorted = false;
            locks[lockCount++] = c;
        } else if (i == 0 || locks[i - 1] != c) {
            System.arraycopy(locks, i, locks, i + 1, lockCount - i);
            locks[i] = c;
            lockCount++;
        }
    }

    /** Sorts the channels and drops double entries, if necessary. */
    void sort() {
        if (!sorted) {
            sortLocks();
        }
    }

    /** Sorts by heap sort, which is in place and never quadratic, and then drops double entries. */
    private void sortLocks() {
        for (int i = lockCount / 2 - 1; i >= 0; i--) {
            sift(i, lockCount);
        }
        for (int end = lockCount - 1; end > 0; end--) {
            Hchan last = locks[0];
            locks[0] = locks[end];
            locks[end] = last;
            sift(0, end);
        }
        int once = 0;
        for (int i = 0; i < lockCount; i++) {
            if (once == 0 || locks[once - 1] != locks[i]) {
                locks[once++] = locks[i];
            }
        }
        Arrays.fill(locks, once, lockCount, null);
        lockCount = once;
        sorted = true;
    }

    private void sift(int from, int size) {
        Hchan c = locks[from];
        int i = from;
        for (int child = 2 * i + 1; child < size; child = 2 * i + 1) {
            if (child + 1 < size && locks[child + 1].order() > locks[child].order()) {
                child++;
            }
            if (c.order() >= locks[child].order()) {
                break;
            }
            locks[i] = locks[child];
            i = child;
        }
        locks[i] = c;
    }

    void lockAll() {
        for (int i = 0; i < lockCount; i++) {
            locks[i].lock.lock();
        }
    }

    void unlockAll() {
        Hchan[] held = locks;
        int count = lockCount;
        for (int i = 0; i < count; i++) {
            held[i].lock.unlock();
        }
    }
}
