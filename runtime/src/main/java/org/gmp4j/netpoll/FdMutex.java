// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Sema;
import org.jspecify.annotations.Nullable;

/**
 * {@code fdMutex}: counts the users of a descriptor, so that no thread uses its number after the close, when the kernel may have given
 * it to another file. Readers take turns, and so do writers; a call that needs no turn holds a reference. A close lets no new user in,
 * and waits for none: the last user to leave closes the descriptor.
 *
 * <pre>
 *  bit  0        CLOSED: no new lock, no new reference
 *  bit  1        a reader is inside
 *  bit  2        a writer is inside
 *  bits 3..22    references, those of the two above with them
 *  bits 23..42   readers that wait for their turn
 *  bits 43..62   writers that wait for their turn
 * </pre>
 *
 * <p>An unlock takes one waiter out of the count and gives the semaphore a unit; the waiter then competes anew. A close does that for
 * all waiters. So there are always as many units as waiters were counted out, and each waiter is woken once. A waiter that leaves
 * early, because of an interrupt, a context or a limit of time, takes one waiter out of the count, whichever it is. If none is
 * counted, its own unit is on the way, and it takes that. Source: Go's {@code internal/poll}; waits that end early are ours.
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

    private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), FdMutex.class, "state", long.class);

    /** Anyone, by CAS. */
    private volatile long state;
    final Sema readers = new Sema();
    final Sema writers = new Sema();

    /** Whether no close has begun. */
    boolean isOpen() {
        return (state & CLOSED) == 0;
    }

    /** Takes a reference; false once closed. */
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

    /** Closes it, and takes a reference; false when it was closed already. Nobody waits for a turn afterwards. */
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

    /** Gives a reference back. True for the last one of a closed: the caller closes the descriptor. */
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
     * Takes the turn of a reader, or of a writer, with a reference.
     *
     * @return 0; {@link IoResult#CLOSED}; or what has ended the caller's wait for its turn: {@link IoResult#INTERRUPTED}, {@link
     *     IoResult#TIMED_OUT}, {@link IoResult#CANCELED}
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

    /** As {@link #lock(boolean, OpLimits)} of a plain operation. */
    int lock(boolean write) {
        return lock(write, OpLimits.PLAIN);
    }

    /** Waits for a unit: 0, or what has ended that. */
    private int await(boolean write, OpLimits limits) {
        Sema units = write ? writers : readers;
        GStack st = GStack.enterChecked();
        boolean counted = true; // As one that waits, and has to take a unit or itself out of the count.
        try {
            if (limits == OpLimits.PLAIN && !Ending.byDefault(st)) {
                units.acquire(false, WaitReason.SEMACQUIRE);
                counted = false;
                return 0;
            }
            Sema.OfSema e = new Sema.OfSema(units, limits.left());
            limits.begin(e);
            try {
                counted = !units.acquire(false, WaitReason.SEMACQUIRE, e);
            } finally {
                e.finish();
            }
            return counted ? OpLimits.error(e) : 0;
        } finally {
            if (counted) { // Also without memory for a wait that can be ended.
                leave(write, st);
            }
            GStack.exit(st);
        }
    }

    /**
     * One that waits without having got a unit takes itself out of the count. Where nobody is counted, whoever unlocked has counted
     * it out: its unit is on the way. Another that comes to wait may take that one, and is counted: so this looks at both again and
     * again. It does not sleep, for then it might have to wait for the end of the turn that an interrupt was to spare it.
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

    /** Gives the turn and its reference back. True for the last of a closed: the caller closes the descriptor. */
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

    /** A count that has run over is 0. */
    private static long notFull(long s, long mask) {
        if ((s & mask) == 0) {
            throw new IllegalStateException("too many concurrent operations on a single socket (max 1048575)");
        }
        return s;
    }
}
