// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import java.util.Arrays;

import org.gmp4j.stack.Host;
import org.gmp4j.struct.ProcessFlag;
import org.gmp4j.struct.Throw;

/**
 * The ranks of runtime locks. A thread takes locks only in ascending order. {@code -Dgmp.lockrank=true} checks this, and the tests set it.
 * Without this property the ranks cost nothing.
 */
public final class LockRank {
    /** A channel. Only a select takes several at once, in the order of their numbers. */
    public static final int HCHAN = 30;
    /** Other objects for which goroutines wait: wait groups, semaphores. */
    public static final int SEMA = 40;
    /** A P's timer heap. */
    public static final int TIMERS = 50;
    /** {@code sched.lock}. */
    public static final int SCHED = 60;
    /**
     * A P's timer heap while its timers move to another P in a stopped world. The mover may hold sched.lock. Another thread that takes the
     * heap's lock then holds no other lock, and releases it before it waits for sched.lock.
     */
    public static final int TIMERS_MOVED = 65;
    /** The common list of free sudogs; a leaf. */
    public static final int SUDOG = 70;
    /** The free blocks of one size in an off-heap allocator. */
    public static final int MEMORY = 72;
    /** The mappings of an off-heap allocator; a leaf. */
    public static final int MEMORY_HEAP = 74;
    /** The request to start an M, which the template thread serves; a leaf. */
    public static final int START = 80;
    /** Events of threads without a P. */
    public static final int TRACE_OUTSIDE = 85;
    /** Full batches of events; a leaf. */
    public static final int TRACE = 90;

    /** Whether ranks are checked. */
    public static final boolean CHECK = ProcessFlag.isSet("lockrank");

    private LockRank() {
    }

    /** Checks and records that the thread takes a lock of this rank. Called before it waits for the lock. */
    static void acquire(int rank) {
        Host h = Host.current();
        if (h == null) {
            return; // A thread that is not an M takes one lock at a time.
        }
        if (h.held > 0) {
            int top = h.heldRanks[h.held - 1];
            if (top > rank || top == rank && rank != HCHAN) {
                throw Throw.of("lock rank violation: taking rank " + rank + " while holding " + held(h));
            }
        }
        if (h.held == h.heldRanks.length) {
            h.heldRanks = Arrays.copyOf(h.heldRanks, 2 * h.held); // A select of many channels needs more.
        }
        h.heldRanks[h.held++] = rank;
    }

    /** Records that the thread has released a lock of this rank. */
    static void release(int rank) {
        Host h = Host.current();
        if (h == null) {
            return;
        }
        for (int i = h.held - 1; i >= 0; i--) {
            if (h.heldRanks[i] == rank) {
                System.arraycopy(h.heldRanks, i + 1, h.heldRanks, i, h.held - i - 1);
                h.held--;
                return;
            }
        }
        throw Throw.of("lock rank violation: releasing rank " + rank + " while holding " + held(h));
    }

    /**
     * Checks that a parking goroutine holds no runtime locks, except the locks that its unlock function releases (G5).
     *
     * @param allowed the number of locks that the unlock function releases
     */
    public static void mayPark(int allowed) {
        Host h = Host.current();
        if (h != null && h.held > allowed) {
            throw Throw.of("gopark while holding runtime locks of rank " + held(h));
        }
    }

    private static String held(Host h) {
        return Arrays.toString(Arrays.copyOf(h.heldRanks, h.held));
    }
}
