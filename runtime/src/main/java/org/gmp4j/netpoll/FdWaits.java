// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.util.function.Supplier;

import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.Bubble;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.SocketWait;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * The part of a {@link PollFd} that waits: where it is registered, its deadlines, what ends a wait. Its methods are called by users
 * that have the descriptor locked or referenced. The one exception is the alarm of a deadline: it holds {@link #lock}, which a close
 * takes too.
 */
abstract class FdWaits {
    private static final int CLOSING = 1;
    private static final int READ_EXPIRED = 1 << 1;
    private static final int WRITE_EXPIRED = 1 << 2;
    /** The wait of whoever has the turn of the direction is ended early: see {@link EarlyEnd}. */
    private static final int READ_ENDED = 1 << 3;
    private static final int WRITE_ENDED = 1 << 4;
    /** Reads have a deadline that has not passed. */
    private static final int READ_TIMED = 1 << 5;
    /** Stands for the waiter in an {@link Ending}; the real one is in a registration. */
    private static final long WAITER = 1;

    /** Before the timers' and sched.lock. */
    final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    final int fd;
    /** Whether a read that found less than it had room for has left nothing. */
    private final boolean shortIsEmpty;
    /** The stay of the last reader on its P ({@link SocketWait#stay}) if its read left nothing, else 0; the readers', in their turn. */
    private long emptyIn;
    /** Written under the lock; read by a waiter after its word: see {@link Registration}. */
    private volatile int flags;
    /** The registrations, the newest first. Written under the lock; given back when the last user has left. Counted by a test. */
    volatile @Nullable Registration registrations;
    /** Under the lock; null until first set. */
    private @Nullable Deadline readDeadline;
    private @Nullable Deadline writeDeadline;
    /** Of {@link #unblockLocked}. */
    private @Nullable Registration unblocked;

    FdWaits(int fd, boolean shortIsEmpty) {
        this.fd = fd;
        this.shortIsEmpty = shortIsEmpty;
        Netpoller.openEarly();
    }

    /**
     * Before the system calls of an operation: what the pollers saw until now those will find. Where a read would probably find nothing it
     * begins with the wait, which saves a call for each request on a connection: see {@link Registration}. That wait may last until the
     * goroutine's next turn although bytes are there. So it is for a reader that has not left its P since the last read, and that
     * nothing but a close can keep from those bytes.
     */
    final int prepare(boolean write, OpLimits limits) {
        long in = 0;
        if (!write) {
            in = emptyIn;
            emptyIn = 0; // A wait that ends without data forgets what was reported meanwhile.
        }
        int e = check(write);
        Registration r = e == 0 ? registrations : null;
        if (r != null) {
            GStack st = GStack.current();
            r = find(poller(st));
            boolean wait = in != 0 && st != null && in == SocketWait.stay(st) && !mayEnd(st, limits);
            if (r != null) {
                if (wait && r.quiet()) {
                    return await(false, limits);
                }
                r.reset(write);
            }
        }
        return e;
    }

    /** Whether a read of the caller may end by a limit, a deadline or an interrupt that is pending. */
    private boolean mayEnd(GStack st, OpLimits limits) {
        return limits != OpLimits.PLAIN || (flags & READ_TIMED) != 0
                || Ending.byDefault(st) && Thread.currentThread().isInterrupted();
    }

    /** A read took {@code n} bytes, having asked for so many: the result. */
    final long taken(long n, long asked) {
        if (shortIsEmpty && n > 0 && n < asked && n < SocketIo.HEAP_MOST) {
            GStack st = GStack.current();
            emptyIn = st == null ? 0 : SocketWait.stay(st);
        }
        return IoResult.of(n, 0);
    }

    /** A system call has failed: 0 to try again, after a wait if need be. */
    final int failed(int errno, boolean write, OpLimits limits) {
        return errno == Errno.EAGAIN ? await(write, limits) : errno == Errno.EINTR ? 0 : errno;
    }

    /** 0, or why a direction may not be used any more, or not just now. */
    final int check(boolean write) {
        int f = flags;
        return (f & CLOSING) != 0 ? IoResult.CLOSED
                : (f & (write ? WRITE_EXPIRED : READ_EXPIRED)) != 0 ? IoResult.TIMED_OUT
                : (f & (write ? WRITE_ENDED : READ_ENDED)) != 0 ? IoResult.INTERRUPTED : 0;
    }

    /** Waits; 0 when the system call is to be tried again. */
    final int await(boolean write, OpLimits limits) {
        if (registrations == null) {
            FdRehearsal.once();
        }
        GStack st = GStack.enterChecked();
        try {
            return limits == OpLimits.PLAIN && !Ending.byDefault(st) ? await(st, write) : awaitUntilEnded(st, write, limits);
        } finally {
            GStack.exit(st);
        }
    }

    @SuppressWarnings("NullAway") // There is one behind open.
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
        limits.begin(end);
        try {
            end.start();
            int e = await(st, write);
            return e == IoResult.INTERRUPTED ? OpLimits.error(end) : e;
        } finally { // There may be no memory to wait.
            end.over();
            end.finish();
        }
    }

    /** What ends a wait early; as a close and a deadline do, by a flag that the waiter reads after its word. */
    final class EarlyEnd extends Ending {
        private final boolean write;
        /** By {@link #remove}, for {@link #ready}: the waiter, and what can wake it. */
        private long waiter;
        private @Nullable Registration of;

        EarlyEnd(Limits limits, boolean write) {
            super(limits);
            this.write = write;
        }

        /** Before the wait: what ends it from here on sets the flag, and what has ended it already has it set. */
        void start() {
            lock.lock();
            if (pending()) {
                flags |= bit();
            } else {
                waits(WAITER);
            }
            lock.unlock();
        }

        /** By the waiter, which has the turn still: what comes from here on is late, and the turn may be somebody else's. */
        void over() {
            lock.lock();
            boolean _ = wokenLocked();
            flags &= ~bit();
            lock.unlock();
        }

        @Override
        protected void lock() {
            lock.lock();
        }

        @Override
        protected void unlock() {
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

    /** Before the first wait with a poller: 0, or an error number. */
    private int open(@Nullable GStack st, @Nullable EdgePoller poller) {
        try {
            if (st != null && poller instanceof Netpoller n) {
                n.openOrThrow(st.scheduler());
            }
            return register(poller == null ? OutsidePoller.get() : poller);
        } catch (NativeException e) { // No poller is to be had: no descriptors.
            return e.errno();
        }
    }

    // Registrations

    /** The poller of the caller's scheduler; null where the {@link OutsidePoller} serves. */
    private static @Nullable EdgePoller poller(@Nullable GStack st) {
        return st != null && st.scheduler().netpoll() instanceof Netpoller n ? n : null;
    }

    private @Nullable Registration find(@Nullable EdgePoller poller) {
        Registration r = registrations;
        while (r != null && r.poller != poller && (poller != null || !(r.poller instanceof OutsidePoller))) {
            r = r.next;
        }
        return r;
    }

    /** Inside {@link GStack#enter}. 0, or an error number. */
    private int register(EdgePoller poller) {
        Registration r = Registration.of(poller);
        boolean added = false;
        lock.lock();
        try {
            int e = 0;
            if (find(poller) == null) { // Else the other direction's has just been made.
                e = poller.registerForGood(fd, r.pd);
                added = e == 0;
            }
            if (added) {
                r.next = registrations;
                registrations = r;
                dropClosed(r);
            }
            return e;
        } finally { // Also when a call of C code finds no memory.
            lock.unlock();
            if (!added) {
                poller.cache().give(r.pd);
            }
        }
    }

    /** Under the lock, behind one of a poller that is open: those of schedulers that have ended, whose goroutines wait for nothing. */
    private static void dropClosed(Registration first) {
        for (Registration r = first; r.next != null;) {
            Registration next = r.next;
            if (next.poller.isClosed()) {
                r.next = next.next; // Whoever walks past it meanwhile goes on from there.
                next.poller.cache().give(next.pd);
            } else {
                r = next;
            }
        }
    }

    // Deadlines

    /** As {@link PollFd#setDeadline} for a direction; inside {@link GStack#enter}. */
    final void setDeadline(long nanos, boolean write) {
        Deadline d = write ? writeDeadline : readDeadline;
        if (d == null && nanos > 0 && nanos != PollFd.NO_LIMIT) { // The machine's clock in a bubble too.
            d = Bubble.outside(new Make(this, write));
        }
        Registration of = null;
        long waiter = 0;
        lock.lock();
        try {
            d = kept(d, write);
            if ((flags & CLOSING) == 0) {
                if (d != null && nanos > 0 && nanos != PollFd.NO_LIMIT) {
                    d.startLocked(nanos);
                } else if (d != null) {
                    d.stopLocked();
                }
                setExpired(write, nanos <= 0);
                if (!write) {
                    flags = nanos > 0 && nanos != PollFd.NO_LIMIT ? flags | READ_TIMED : flags & ~READ_TIMED;
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

    /** No lambda: with no memory to link it nobody could ever set a deadline. */
    private record Make(FdWaits of, boolean write) implements Supplier<Deadline> {
        @Override
        public Deadline get() {
            return new Deadline(of, write);
        }
    }

    /** Under the lock: the deadline of a direction, which is {@code made} if there was none; may be null. */
    private @Nullable Deadline kept(@Nullable Deadline made, boolean write) {
        if (write) {
            writeDeadline = writeDeadline == null ? made : writeDeadline;
            return writeDeadline;
        }
        readDeadline = readDeadline == null ? made : readDeadline;
        return readDeadline;
    }

    /** Under the lock. */
    final void setExpired(boolean write, boolean expired) {
        int bit = write ? WRITE_EXPIRED : READ_EXPIRED;
        flags = expired ? flags | bit : flags & ~bit;
    }

    /** Under the lock, after the flags were set: the waiter of a direction, now in the caller's hands; 0 for none. */
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

    /** Under the lock: the registration that can wake the waiter that {@link #unblockLocked} gave. */
    final @Nullable Registration unblocked() {
        return unblocked;
    }

    // The end

    /** {@code evict}: nobody waits any more, nor will. */
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

    /** The last user has left: no wait is under way, and no deadline is set. */
    final void giveBack() {
        for (Registration r = registrations; r != null; r = r.next) {
            r.poller.cache().give(r.pd);
        }
    }
}
