// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.lang.invoke.MethodHandles;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Sema;
import org.gmp4j.wait.WaitCancellation;
import org.jspecify.annotations.Nullable;

/**
 * {@code fdMutex}: counts the users of a descriptor. So no thread uses the descriptor's number after the close, when the number may belong
 * to another file. At most one reader and one writer have the descriptor locked. An operation that neither reads nor writes has only a
 * reference. A close refuses new users, and does not wait for present users. The last user to leave closes the descriptor.
 *
 * <pre>
 *  bit  0        CLOSED: no new lock, no new reference
 *  bit  1        a reader is inside
 *  bit  2        a writer is inside
 *  bits 3..22    references, including those of the reader and the writer inside
 *  bits 23..42   readers that wait for the lock
 *  bits 43..62   writers that wait for the lock
 * </pre>
 *
 * <p>An unlock subtracts one waiter from the count and gives the semaphore a unit. The waiter then competes for the lock again. A close
 * subtracts all waiters, and gives the semaphore a unit for each. A waiter whose wait ends early, because of an interrupt, a context or a
 * limit of time, also subtracts one waiter. If the count is 0, another thread has subtracted this waiter, and has added a unit for it or
 * will soon do so. The waiter takes that unit. Source: Go's {@code internal/poll}, where no wait for the lock ends early.
 */
final class FdMutex {
    private static final long CLOSED = 1;
    private static final long RLOCK = 1 << 1;
    private static final long WLOCK = 1 << 2;
    private static final long REF = 1 << 3;
    private static final long COUNT = (1 << 20) - 1;
    private static final long REFS = COUNT << 3;
    private static final long RWAIT = 1L << 23;
    private static final long RWAITS = COUNT << 23;
    private static final long WWAIT = 1L << 43;
    private static final long WWAITS = COUNT << 43;

    private static final HeapLong<FdMutex> STATE = HeapLong.of(MethodHandles.lookup(), FdMutex.class, "state");

    /** Written by any user, by CAS. */
    private volatile long state;
    final Sema readers = new Sema();
    final Sema writers = new Sema();

    boolean isOpen() {
        return (state & CLOSED) == 0;
    }

    /** Takes a reference. Returns false after a close. */
    boolean incref() {
        for (;;) {
            long s = state;
            if ((s & CLOSED) != 0) {
                return false;
            }
            if (STATE.compareAndSet(this, s, notFull(s + REF, REFS))) {
                return true;
            }
        }
    }

    /** Closes the descriptor to new users, wakes all waiters, and takes a reference. Returns false when it was closed already. */
    boolean increfAndClose() {
        for (;;) {
            long s = state;
            if ((s & CLOSED) != 0) {
                return false;
            }
            long next = notFull((s | CLOSED) + REF, REFS) & ~(RWAITS | WWAITS);
            if (STATE.compareAndSet(this, s, next)) {
                release(readers, (s & RWAITS) / RWAIT);
                release(writers, (s & WWAITS) / WWAIT);
                return true;
            }
        }
    }

    /** Releases a reference. Returns true if it was the last one and a close has begun. Then the caller must close the descriptor. */
    boolean decref() {
        for (;;) {
            long s = state;
            if ((s & REFS) == 0) {
                throw Throw.of("inconsistent fdMutex");
            }
            long next = s - REF;
            if (STATE.compareAndSet(this, s, next)) {
                return last(next);
            }
        }
    }

    /**
     * Takes the lock of readers or the lock of writers, with a reference.
     *
     * @return 0; {@link IoResult#CLOSED}; or the error of a wait that ended early: {@link IoResult#INTERRUPTED},
     *     {@link IoResult#TIMED_OUT}, {@link IoResult#CANCELED}
     */
    int lock(boolean write, OpLimits limits) {
        long bit = write ? WLOCK : RLOCK;
        for (;;) {
            long s = state;
            if ((s & CLOSED) != 0) {
                return IoResult.CLOSED;
            }
            boolean free = (s & bit) == 0;
            if (!free && limits.expired()) {
                return IoResult.TIMED_OUT;
            }
            long next = free ? notFull((s | bit) + REF, REFS)
                    : write ? notFull(s + WWAIT, WWAITS) : notFull(s + RWAIT, RWAITS);
            if (STATE.compareAndSet(this, s, next)) {
                if (free) {
                    return 0;
                }
                int e = await(write, limits);
                if (e != 0) {
                    return (state & CLOSED) != 0 ? IoResult.CLOSED : e;
                }
            }
        }
    }

    /** Waits for a unit. Returns 0, or the error of the reason that has ended the wait. */
    private int await(boolean write, OpLimits limits) {
        Sema units = write ? writers : readers;
        GStack st = GStack.enterChecked();
        boolean counted = true; // The caller counts as a waiter. It must take a unit, or subtract one waiter from the count.
        try {
            if (limits == OpLimits.PLAIN && !WaitCancellation.byDefault(st)) {
                units.acquire(false, WaitReason.FD_SEMACQUIRE);
                counted = false;
                return 0;
            }
            Sema.OfSema e = new Sema.OfSema(units, limits.left());
            e.beginOutside();
            try {
                counted = !units.acquire(false, WaitReason.FD_SEMACQUIRE, e);
            } finally {
                e.finish();
            }
            return counted ? OpLimits.error(e) : 0;
        } finally {
            if (counted) { // Runs also when there is no memory for a wait that may end early.
                leave(write, st);
            }
            GStack.exit(st);
        }
    }

    /**
     * Ends the wait of the caller, which has taken no unit: subtracts one waiter from the count. If the count is 0, an unlock or a close
     * has subtracted the caller, and has added a unit for it or will soon do so. The caller takes that unit. A new waiter may take the unit
     * first, but then the new waiter is in the count. So this method checks the count and the units repeatedly. It does not sleep. A sleep
     * might last until the descriptor's unlock, whereas the caller's wait is to end now.
     */
    void leave(boolean write, @Nullable GStack st) {
        Sema units = write ? writers : readers;
        long waits = write ? WWAITS : RWAITS;
        long one = write ? WWAIT : RWAIT;
        for (;;) {
            long s = state;
            if ((s & waits) != 0) {
                if (STATE.compareAndSet(this, s, s - one)) {
                    return;
                }
            } else if (units.take()) {
                return;
            } else if (st != null) {
                Park.gosched(st);
            } else {
                Thread.yield();
            }
        }
    }

    /** Releases the lock and its reference. Returns true if the reference was the last one and a close has begun: see {@link #decref}. */
    boolean unlock(boolean write) {
        long bit = write ? WLOCK : RLOCK;
        long waits = write ? WWAITS : RWAITS;
        for (;;) {
            long s = state;
            if ((s & bit) == 0 || (s & REFS) == 0) {
                throw Throw.of("inconsistent fdMutex");
            }
            boolean waited = (s & waits) != 0;
            long next = (s & ~bit) - REF - (waited ? write ? WWAIT : RWAIT : 0);
            if (STATE.compareAndSet(this, s, next)) {
                if (waited) {
                    release(write ? writers : readers, 1);
                }
                return last(next);
            }
        }
    }

    private static boolean last(long s) {
        return (s & (CLOSED | REFS)) == CLOSED;
    }

    private static void release(Sema sema, long n) {
        GStack st = GStack.enterChecked();
        for (long i = 0; i < n; i++) {
            sema.release(false);
        }
        GStack.exit(st);
    }

    /** Checks that the count in {@code mask}, to which 1 was added, has not overflowed to 0, and returns {@code s}. */
    private static long notFull(long s, long mask) {
        if ((s & mask) == 0) {
            throw new IllegalStateException("too many concurrent operations on a single socket (max 1048575)");
        }
        return s;
    }
}
