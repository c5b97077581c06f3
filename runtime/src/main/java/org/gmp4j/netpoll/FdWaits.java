// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.util.function.Supplier;

import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.jdk.SocketWait;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;
import org.jspecify.annotations.Nullable;

/**
 * The part of a {@link PollFd} that waits: its registrations, its deadlines, and the early end of a wait. Callers have the descriptor
 * locked or referenced. The alarm of a deadline neither locks nor references it. Instead the alarm holds {@link #lock}, which a close takes
 * too.
 */
abstract class FdWaits {
    private static final int CLOSING = 1;
    private static final int READ_EXPIRED = 1 << 1;
    private static final int WRITE_EXPIRED = 1 << 2;
    /** The reader that has the descriptor locked must end its wait early: see {@link EarlyEnd}. The next flag is for the writer. */
    private static final int READ_ENDED = 1 << 3;
    private static final int WRITE_ENDED = 1 << 4;
    /** Reads have a deadline that has not passed. */
    private static final int READ_TIMED = 1 << 5;
    /** The value that a {@link WaitCancellation} has in place of a sudog, because the waiter is in a registration. */
    private static final long WAITER = 1;

    /** Taken before the timers' locks and sched.lock. */
    final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    final int fd;
    /** Whether a read that returns fewer bytes than it had room for has emptied the socket. */
    private final boolean shortIsEmpty;
    /** The last reader's {@link SocketWait#stay} if its read emptied the socket, else 0. Used by the reader that locks the descriptor. */
    private long emptyIn;
    /** The flags. Written under the lock. A waiter reads them after it has written its word: see {@link Registration}. */
    private volatile int flags;
    /** The registrations, the newest first. Written under the lock; released when the last user has left. A test counts them. */
    volatile @Nullable Registration registrations;
    /** The deadline of reads; null until it is first set. Guarded by the lock, like the deadline of writes. */
    private @Nullable Deadline readDeadline;
    private @Nullable Deadline writeDeadline;
    /** The registration that can wake the waiter that {@link #unblockLocked} returned last. Guarded by the lock. */
    @Nullable Registration unblocked;

    FdWaits(int fd, boolean shortIsEmpty) {
        this.fd = fd;
        this.shortIsEmpty = shortIsEmpty;
        Netpoller.openEarly();
    }

    /**
     * Begins an operation. It clears the readiness that was reported so far, because the system call that follows will find the data.
     * Returns 0, or the error with which the operation ends.
     *
     * <p>A read that would probably find nothing begins with the wait, which saves a system call for each request on a connection: see
     * {@link Registration}. If bytes have arrived that no poll has reported yet, that wait lasts until a poll finds them and the goroutine
     * is scheduled again. So a reader waits first only under two conditions: it has not left its P since its last read, and no limit,
     * deadline or pending interrupt may end its read.
     */
    final int prepare(boolean write, OpLimits limits) {
        long in = 0;
        if (!write) {
            in = emptyIn;
            emptyIn = 0; // A wait may end without data and clear the readiness, so the next read begins with the system call.
        }
        int e = check(write);
        Registration r = e == 0 ? registrations : null;
        if (r != null) {
            GStack st = GStack.current();
            r = find(poller(st));
            if (r != null) {
                if (in != 0 && st != null && in == SocketWait.stay(st) && !mayEnd(st, limits) && r.quiet()) {
                    return await(false, limits);
                }
                r.reset(write);
            }
        }
        return e;
    }

    /** Returns whether a limit, a deadline or a pending interrupt may end the caller's read early. */
    private boolean mayEnd(GStack st, OpLimits limits) {
        return limits != OpLimits.PLAIN || (flags & READ_TIMED) != 0
                || WaitCancellation.byDefault(st) && Thread.currentThread().isInterrupted();
    }

    /**
     * Returns the result of a read of {@code n} bytes with room for {@code asked}, and records whether the read has emptied the socket. A
     * read into an array takes at most {@link SocketIo#HEAP_MOST} bytes, even if the socket has more.
     */
    final long taken(long n, long asked) {
        if (shortIsEmpty && n > 0 && n < asked && n < SocketIo.HEAP_MOST) {
            GStack st = GStack.current();
            emptyIn = st == null ? 0 : SocketWait.stay(st);
        }
        return IoResult.of(n, 0);
    }

    /** Handles the error of a system call, and waits after EAGAIN. Returns 0 if the call is to be tried again, else the error. */
    final int failed(int errno, boolean write, OpLimits limits) {
        return errno == Errno.EAGAIN ? await(write, limits) : errno == Errno.EINTR ? 0 : errno;
    }

    /**
     * Returns 0 if an operation in this direction may go on. Otherwise returns the error with which the operation ends: closed, timed out,
     * or ended early.
     */
    final int check(boolean write) {
        int f = flags;
        return (f & CLOSING) != 0 ? IoResult.CLOSED
                : (f & (write ? WRITE_EXPIRED : READ_EXPIRED)) != 0 ? IoResult.TIMED_OUT
                : (f & (write ? WRITE_ENDED : READ_ENDED)) != 0 ? IoResult.INTERRUPTED : 0;
    }

    /** Waits until the descriptor may be ready. Returns 0 when the system call is to be tried again, else an error. */
    final int await(boolean write, OpLimits limits) {
        if (registrations == null) {
            FdRehearsal.once();
        }
        GStack st = GStack.enterChecked();
        try {
            return limits == OpLimits.PLAIN && !WaitCancellation.byDefault(st) ? await(st, write) : awaitUntilEnded(st, write, limits);
        } finally {
            GStack.exit(st);
        }
    }

    @SuppressWarnings("NullAway") // open has made the registration with this poller.
    private int await(@Nullable GStack st, boolean write) {
        EdgePoller poller = poller(st);
        Registration r = find(poller);
        if (r == null) {
            int e = open(st, poller);
            if (e != 0) {
                return e;
            }
            r = find(poller);
        }
        r.await(st, this, write);
        return check(write);
    }

    private int awaitUntilEnded(@Nullable GStack st, boolean write, OpLimits limits) {
        if (limits.expired()) {
            return IoResult.TIMED_OUT;
        }
        EarlyEnd end = new EarlyEnd(limits.left(), write);
        end.beginOutside();
        try {
            end.start();
            int e = await(st, write);
            return e == IoResult.INTERRUPTED ? OpLimits.error(end) : e;
        } finally { // Runs also when there is no memory for the wait.
            end.over();
            end.finish();
        }
    }

    /** Ends a wait early by a flag, as a close and a deadline do. The waiter reads the flag after it has written its word. */
    final class EarlyEnd extends WaitCancellation {
        private final boolean write;
        /** The waiter and its registration. Written by {@link #remove}, under the lock; read by {@link #ready} of the same thread. */
        private long waiter;
        private @Nullable Registration of;

        EarlyEnd(Limits limits, boolean write) {
            super(limits, lock);
            this.write = write;
        }

        /**
         * Called before the wait. Sets the flag if there already is a reason to end the wait. For later reasons {@link #remove} sets it.
         */
        void start() {
            lock.lock();
            if (pending()) {
                flags |= bit();
            } else {
                waits(WAITER);
            }
            lock.unlock();
        }

        /**
         * Clears the flag after the wait. Called by the waiter while it has the descriptor locked. No later reason sets the flag, which
         * would then end the wait of another user.
         */
        void over() {
            lock.lock();
            boolean _ = wokenLocked();
            flags &= ~bit();
            lock.unlock();
        }

        @Override
        protected boolean remove(long mark) {
            flags |= bit();
            waiter = unblockLocked(write);
            of = unblocked;
            return true;
        }

        @Override
        protected void ready(long mark) {
            Registration by = of;
            if (by != null) {
                by.wake(waiter);
            }
        }

        private int bit() {
            return write ? WRITE_ENDED : READ_ENDED;
        }
    }

    /** Opens the poller and registers the descriptor, before its first wait with that poller. Returns 0, or an error number. */
    private int open(@Nullable GStack st, @Nullable EdgePoller poller) {
        try {
            if (st != null && poller instanceof Netpoller n) {
                n.openOrThrow(st.scheduler());
            }
            return register(poller == null ? OutsidePoller.get() : poller);
        } catch (NativeException e) { // There is no descriptor for the poller.
            return e.errno();
        }
    }

    // Registrations

    /** Returns the poller of the caller's scheduler, or null if the {@link OutsidePoller} serves the caller. */
    private static @Nullable EdgePoller poller(@Nullable GStack st) {
        return st != null && st.scheduler().netpoll() instanceof Netpoller n ? n : null;
    }

    /** Returns the registration in {@code poller}, or in the {@link OutsidePoller} for null; null if there is none. */
    private @Nullable Registration find(@Nullable EdgePoller poller) {
        Registration r = registrations;
        while (r != null && r.poller != poller && (poller != null || !(r.poller instanceof OutsidePoller))) {
            r = r.next;
        }
        return r;
    }

    /** Registers the descriptor in a poller. Returns 0, or an error number. Called inside {@link GStack#enter}. */
    private int register(EdgePoller poller) {
        Registration r = Registration.of(poller);
        boolean added = false;
        lock.lock();
        try {
            int e = 0;
            if (find(poller) == null) { // Otherwise the waiter of the other direction has registered it.
                e = poller.registerForGood(fd, r.pd);
                added = e == 0;
            }
            if (added) {
                r.next = registrations;
                registrations = r;
                dropClosed(r);
            }
            return e;
        } finally { // Runs also when there is no memory for a call of C code.
            lock.unlock();
            if (!added) {
                poller.cache().give(r.pd);
            }
        }
    }

    /**
     * Removes the registrations after {@code first} whose schedulers have ended. No goroutine waits in these registrations. Called under
     * the lock. The poller of {@code first} is open.
     */
    private static void dropClosed(Registration first) {
        for (Registration r = first; r.next != null;) {
            Registration next = r.next;
            if (next.poller.isClosed()) {
                r.next = next.next; // The removed registration keeps its next, for threads that walk the list without the lock.
                next.poller.cache().give(next.pd);
            } else {
                r = next;
            }
        }
    }

    // Deadlines

    /** Sets the deadline of one direction to {@code nanos} from now: see {@link PollFd#setDeadline}. Called inside {@link GStack#enter}. */
    final void setDeadline(long nanos, boolean write) {
        boolean timed = nanos > 0 && nanos != PollFd.NO_LIMIT;
        Deadline d = write ? writeDeadline : readDeadline;
        if (d == null && timed) { // A deadline goes by the machine's clock in a bubble too.
            d = Bubble.outside(new Make(this, write));
        }
        Registration of = null;
        long waiter = 0;
        lock.lock();
        try {
            d = kept(d, write);
            if ((flags & CLOSING) == 0) {
                if (d != null && timed) {
                    d.startLocked(nanos);
                } else if (d != null) {
                    d.stopLocked();
                }
                setExpired(write, nanos <= 0);
                if (!write) {
                    flags = timed ? flags | READ_TIMED : flags & ~READ_TIMED;
                }
                if (nanos <= 0) {
                    waiter = unblockLocked(write);
                    of = unblocked;
                }
            }
        } finally {
            lock.unlock();
        }
        if (of != null) {
            of.wake(waiter);
        }
    }

    /** Makes a deadline. */
    private record Make(FdWaits of, boolean write) implements Supplier<Deadline> {
        @Override
        public Deadline get() {
            return new Deadline(of, write);
        }
    }

    /** Returns the deadline of a direction, or null. If there was none, sets it to {@code made}. Called under the lock. */
    private @Nullable Deadline kept(@Nullable Deadline made, boolean write) {
        if (write) {
            writeDeadline = writeDeadline == null ? made : writeDeadline;
            return writeDeadline;
        }
        readDeadline = readDeadline == null ? made : readDeadline;
        return readDeadline;
    }

    /** Sets whether the deadline of a direction has passed. Called under the lock. */
    final void setExpired(boolean write, boolean expired) {
        int bit = write ? WRITE_EXPIRED : READ_EXPIRED;
        flags = expired ? flags | bit : flags & ~bit;
    }

    /**
     * Takes the waiter of a direction out of its registration. Returns the waiter, which the caller must wake, or 0 if there is none.
     * Called under the lock, after the flags were set.
     */
    final long unblockLocked(boolean write) {
        unblocked = null;
        for (Registration r = registrations; r != null; r = r.next) {
            long waiter = Registration.unblock(r.pd, write, false);
            if (waiter != 0) {
                unblocked = r;
                return waiter;
            }
        }
        return 0;
    }

    // The end

    /** {@code evict}: ends the waits of both directions and the deadlines. Afterwards no wait begins. */
    final void evict() {
        lock.lock();
        flags |= CLOSING;
        if (readDeadline != null) {
            readDeadline.stopLocked();
        }
        if (writeDeadline != null) {
            writeDeadline.stopLocked();
        }
        long reader = unblockLocked(false);
        Registration ofReader = unblocked;
        long writer = unblockLocked(true);
        Registration ofWriter = unblocked;
        lock.unlock();
        if (ofReader != null) {
            ofReader.wake(reader);
        }
        if (ofWriter != null) {
            ofWriter.wake(writer);
        }
    }

    /** Releases the registrations. Called when the last user has left: no wait is under way, and no deadline is set. */
    final void giveBack() {
        for (Registration r = registrations; r != null; r = r.next) {
            r.poller.cache().give(r.pd);
        }
    }
}
