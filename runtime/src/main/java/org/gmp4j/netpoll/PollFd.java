// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.lang.foreign.MemorySegment;

import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Sema;

/**
 * A non-blocking descriptor that is read, written and closed by many ({@code poll.FD}): the number, its users, where it is
 * registered, its deadlines. Thread-safe; from goroutines of any scheduler, and from threads, which wait by the {@link
 * OutsidePoller}. An interrupt ends the waits of a virtual thread with an identity, and of a task that can be cancelled, by
 * {@link IoResult#INTERRUPTED}. It does not end the waits of other threads, nor operations that do not wait. {@link Limits} may say
 * otherwise. An operation that is ended early returns {@link IoResult#INTERRUPTED}, {@link IoResult#TIMED_OUT} or {@link
 * IoResult#CANCELED}, and never throws; whether a limit was over before it began is for the caller to check ({@link Limits#check}).
 *
 * <p>An operation takes the turn of its direction, tries the system call, and waits while that finds nothing. The call
 * itself is made outside of {@link GStack#enter}: where it takes long, sysmon may take the P. A close tells
 * all users and wakes those that wait; the number is free when the last has left, and the closer waits for that.
 *
 * <p>Each operation makes sure at its beginning that there is room on the stack for all of it: it is refused, or done with
 * its turn given back. Nothing is allocated but at the first wait of a scheduler, the first deadline, a wait that an interrupt may
 * end, and by what throws.
 */
public final class PollFd extends FdWaits {
    /** A time limit of {@link #setDeadline} that is none. */
    public static final long NO_LIMIT = Long.MAX_VALUE;

    private final FdMutex users = new FdMutex();
    /** A unit when the descriptor has been closed: each closer takes it and gives it on to the next. */
    private final Sema released = new Sema();

    /** Takes a descriptor over, non-blocking, which nobody else uses or closes. */
    public PollFd(int fd) {
        this(fd, false);
    }

    private PollFd(int fd, boolean shortIsEmpty) {
        super(fd, shortIsEmpty);
    }

    /** The same of a connection of TCP, which a read that finds less than it has room for leaves empty. */
    public static PollFd ofTcp(int fd) {
        return new PollFd(fd, true);
    }

    // Operations

    /** Reads once: 0 bytes at the end of a stream, or for memory of none. */
    public long read(MemorySegment to, Limits limits) {
        return read(to, limits, false);
    }

    /** Takes a datagram. */
    public long receive(MemorySegment to, Limits limits) {
        return read(to, limits, true);
    }

    private long read(MemorySegment to, Limits limits, boolean datagram) {
        OpLimits l = OpLimits.of(limits);
        int refused = begin(false, l);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            int e = prepare(false, l);
            while (e == 0) {
                long n = datagram ? SocketIo.receiveDatagram(fd, to) : SocketIo.read(fd, to);
                if (n >= 0) {
                    return taken(n, to.byteSize());
                }
                e = failed((int) -n, false, l);
            }
            return IoResult.of(0, e);
        } finally {
            unlock(false);
        }
    }

    /** Reads once into {@code n} pieces: 0 bytes at the end of a stream, or for memory of none. */
    public long read(MemorySegment[] to, int first, int n) {
        return read(to, first, Math.min(SocketIo.PIECES, n), false);
    }

    /** Takes a datagram into {@code n} pieces, at most {@link SocketIo#PIECES}. */
    public long receive(MemorySegment[] to, int first, int n) {
        return read(to, first, n, true);
    }

    private long read(MemorySegment[] to, int first, int n, boolean datagram) {
        int refused = begin(false, OpLimits.PLAIN);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            int e = prepare(false, OpLimits.PLAIN);
            while (e == 0) {
                long got = datagram ? SocketIo.receiveDatagram(fd, to, first, n) : SocketIo.read(fd, to, first, n);
                if (got >= 0) {
                    return IoResult.of(got, 0);
                }
                e = failed((int) -got, false, OpLimits.PLAIN);
            }
            return IoResult.of(0, e);
        } finally {
            unlock(false);
        }
    }

    /** Takes a datagram and its sender's address: see {@link SocketIo#receiveFrom}. */
    public long receiveFrom(MemorySegment to, long address, Limits limits) {
        OpLimits l = OpLimits.of(limits);
        int refused = begin(false, l);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            return receiveLocked(to, address, l);
        } finally {
            unlock(false);
        }
    }

    private long receiveLocked(MemorySegment to, long address, OpLimits l) {
        int e = prepare(false, l);
        while (e == 0) {
            long n = SocketIo.receiveFrom(fd, to, address);
            if (n >= 0) {
                return IoResult.of(n, 0);
            }
            e = failed((int) -n, false, l);
        }
        return IoResult.of(0, e);
    }

    /** Writes all; as much as was written when it ends early. */
    public long write(MemorySegment from, Limits limits) {
        OpLimits l = OpLimits.of(limits);
        int refused = begin(true, l);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            return writeLocked(from, prepare(true, l), l);
        } finally {
            unlock(true);
        }
    }

    private long writeLocked(MemorySegment from, int before, OpLimits l) {
        long size = from.byteSize();
        long done = 0;
        int e = before;
        while (e == 0 && done < size) {
            long n = SocketIo.send(fd, done == 0 ? from : from.asSlice(done));
            if (n >= 0) {
                done += n;
            } else {
                e = failed((int) -n, true, l);
            }
        }
        return IoResult.of(done, e);
    }

    /** Writes all of {@code n} pieces, several in a system call; as much as was written when it ends early. */
    public long write(MemorySegment[] from, int first, int n) {
        int refused = begin(true, OpLimits.PLAIN);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            return writeLocked(from, first, first + n);
        } finally {
            unlock(true);
        }
    }

    private long writeLocked(MemorySegment[] from, int first, int end) {
        long done = 0;
        int e = prepare(true, OpLimits.PLAIN);
        int i = first;
        while (e == 0 && i < end) {
            long n = SocketIo.send(fd, from, i, Math.min(SocketIo.PIECES, end - i));
            if (n < 0) {
                e = failed((int) -n, true, OpLimits.PLAIN);
                continue;
            }
            done += n;
            for (; i < end && n >= from[i].byteSize(); i++) {
                n -= from[i].byteSize();
            }
            if (n > 0) { // The rest of a piece alone: it is large, or there is no room just now.
                long rest = writeLocked(from[i].asSlice(n), 0, OpLimits.PLAIN);
                done += IoResult.count(rest);
                e = IoResult.error(rest);
                i++;
            }
        }
        return IoResult.of(done, e);
    }

    /**
     * Sends a datagram: see {@link SocketIo#sendTo}. The address is the writers'; 0 for the peer.
     *
     * @param waits whether it waits for room; else EAGAIN is an error as any
     */
    public long sendTo(MemorySegment from, long address, boolean waits, Limits limits) {
        OpLimits l = OpLimits.of(limits);
        int refused = begin(true, l);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            return sendLocked(from, address, waits, l);
        } finally {
            unlock(true);
        }
    }

    /** Sends a datagram to the peer, made of {@code n} pieces, at most {@link SocketIo#PIECES}; waits for room. */
    public long send(MemorySegment[] from, int first, int n) {
        int refused = begin(true, OpLimits.PLAIN);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            int e = prepare(true, OpLimits.PLAIN);
            while (e == 0) {
                long sent = SocketIo.sendDatagram(fd, from, first, n);
                if (sent >= 0) {
                    return IoResult.of(sent, 0);
                }
                e = failed((int) -sent, true, OpLimits.PLAIN);
            }
            return IoResult.of(0, e);
        } finally {
            unlock(true);
        }
    }

    private long sendLocked(MemorySegment from, long address, boolean waits, OpLimits l) {
        int e = prepare(true, l);
        while (e == 0) {
            long n = address == 0 ? SocketIo.sendDatagram(fd, from) : SocketIo.sendTo(fd, from, address);
            if (n >= 0) {
                return IoResult.of(n, 0);
            }
            e = waits || n == -Errno.EINTR ? failed((int) -n, true, l) : (int) -n;
        }
        return IoResult.of(0, e);
    }

    /** Takes a connection that waits: its descriptor is the count. One that has gone again is passed over. */
    public long accept(Limits limits) {
        OpLimits l = OpLimits.of(limits);
        int refused = begin(false, l);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            int e = prepare(false, l);
            while (e == 0) {
                int n = Sockets.accept(fd);
                if (n >= 0) {
                    return IoResult.of(n, 0);
                }
                e = n == -Errno.ECONNABORTED ? 0 : failed(-n, false, l);
            }
            return IoResult.of(0, e);
        } finally {
            unlock(false);
        }
    }

    /** Waits until a connect that is in progress has ended; 0, or its error. */
    public int awaitConnected() {
        int refused = begin(true, OpLimits.PLAIN);
        if (refused != 0) {
            return refused;
        }
        try {
            int e = prepare(true, OpLimits.PLAIN);
            while (e == 0) {
                e = await(true, OpLimits.PLAIN);
                if (e == 0) {
                    e = Sockets.error(fd);
                    if (e == 0 && Sockets.isConnected(fd)) {
                        return 0;
                    }
                }
            }
            return e;
        } finally {
            unlock(true);
        }
    }

    /** Something else that is done with the descriptor, and does not wait. */
    @FunctionalInterface
    public interface Use {
        /** Does it. */
        void with(int fd);
    }

    /**
     * Does something with the descriptor, which is not closed meanwhile.
     *
     * @return false once closed
     */
    public boolean use(Use u) {
        begin();
        if (!users.incref()) {
            return false;
        }
        try {
            u.with(fd);
        } finally {
            decref();
        }
        return true;
    }

    private static void begin() {
        GStack.checkAll();
        Park.preemptPoint();
    }

    /** The same with the turn of a direction; 0, or why there is none. */
    private int begin(boolean write, OpLimits limits) {
        begin();
        return users.lock(write, limits);
    }

    // Deadlines

    /**
     * Sets until when reads, or writes, or both, have time, those that wait just now as well.
     *
     * @param nanos how long from now; 0 and less have none, {@link #NO_LIMIT} any
     * @return false once closed
     */
    public boolean setDeadline(long nanos, boolean read, boolean write) {
        begin();
        if (!users.incref()) {
            return false;
        }
        try {
            setDeadlines(nanos, read, write);
        } finally {
            decref();
        }
        return true;
    }

    private void setDeadlines(long nanos, boolean read, boolean write) {
        GStack st = GStack.enterChecked();
        try {
            if (read) {
                setDeadline(nanos, false);
            }
            if (write) {
                setDeadline(nanos, true);
            }
        } finally {
            GStack.exit(st);
        }
    }

    // The end

    /** Whether no close has begun. */
    public boolean isOpen() {
        return users.isOpen();
    }

    /**
     * Closes. Calls that read, write or accept get {@link IoResult#CLOSED}. When this returns the descriptor is closed, also where another
     * close had begun before.
     *
     * @return false when it was closed already, or another closes it
     */
    public boolean close() {
        GStack.checkAllToGive();
        Park.preemptPoint();
        boolean first = users.increfAndClose();
        if (first) {
            GStack st = GStack.enterChecked();
            evict();
            GStack.exit(st);
            decref(); // Outside: as the last user this closes the descriptor, which may wait in the kernel.
        }
        GStack st = GStack.enterChecked();
        released.acquire(false, WaitReason.SEMACQUIRE);
        released.release(false);
        GStack.exit(st);
        return first;
    }

    private void unlock(boolean write) {
        if (users.unlock(write)) {
            destroy();
        }
    }

    private void decref() {
        if (users.decref()) {
            destroy();
        }
    }

    /** The last user has left: no wait is under way, and no deadline is set. Not inside {@link GStack#enter}. */
    private void destroy() {
        GStack st = GStack.enterChecked();
        giveBack();
        GStack.exit(st);
        Fd.release(fd); // The kernel takes it out of the epoll instances; with a linger it may wait.
        st = GStack.enterChecked();
        released.release(false);
        GStack.exit(st);
    }
}
