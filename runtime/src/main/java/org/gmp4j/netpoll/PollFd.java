// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.lang.foreign.MemorySegment;

import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Sema;

/**
 * A non-blocking descriptor that many threads may read, write and close ({@code poll.FD}). It has the descriptor's number, users,
 * registrations and deadlines. Thread-safe. Goroutines of any scheduler and other threads may use it. The other threads wait in the
 * {@link OutsidePoller}. An interrupt ends the waits of a virtual thread with an identity, and of a task that can be cancelled, unless
 * {@link Limits} say otherwise. An interrupt does not end the waits of other threads, or an operation that does not wait. An operation that
 * ends early returns {@link IoResult#INTERRUPTED}, {@link IoResult#TIMED_OUT} or {@link IoResult#CANCELED}, and never throws. The caller
 * has to check first whether a limit has expired ({@link Limits#check}).
 *
 * <p>An operation locks its direction, tries the system call, and waits while the call finds nothing. The call is made outside of
 * {@link GStack#enter}, so that sysmon may take the P if the call takes long. A close ends the waits of all users, and refuses new users.
 * The last user to leave closes the number, and the closer waits for that.
 *
 * <p>Each operation first checks that there is room on the stack for all of it. So it is either refused, or carried out to its end, unlock
 * included. Memory is allocated only in these cases: at the first wait of a scheduler, at the first deadline, for a wait that an interrupt
 * may end, and for an exception.
 */
public final class PollFd extends FdWaits {
    /** The argument of {@link #setDeadline} that removes the deadline. */
    public static final long NO_LIMIT = Long.MAX_VALUE;

    private final FdMutex users = new FdMutex();
    /** This semaphore has a unit once the descriptor has been closed. Each closer takes the unit, and releases it for the next closer. */
    private final Sema released = new Sema();

    /** Takes over a non-blocking descriptor. No other code may use or close it from now on. */
    public PollFd(int fd) {
        this(fd, false);
    }

    private PollFd(int fd, boolean shortIsEmpty) {
        super(fd, shortIsEmpty);
    }

    /** Takes over the descriptor of a TCP connection. (A read that returns fewer bytes than it had room for has emptied such a socket.) */
    public static PollFd ofTcp(int fd) {
        return new PollFd(fd, true);
    }

    // Operations

    /** Reads once. The count is 0 at the end of a stream, or if {@code to} has no bytes. */
    public long read(MemorySegment to, Limits limits) {
        return read(to, false, 0, limits);
    }

    /** Receives a datagram. */
    public long receive(MemorySegment to, Limits limits) {
        return read(to, true, 0, limits);
    }

    /** Receives a datagram and its sender's address: see {@link SocketIo#receiveFrom}. */
    public long receiveFrom(MemorySegment to, long address, Limits limits) {
        return read(to, true, address, limits);
    }

    /** Reads, or receives a datagram, with its sender's address if {@code address} is not 0. */
    private long read(MemorySegment to, boolean datagram, long address, Limits limits) {
        OpLimits l = OpLimits.of(limits);
        int refused = begin(false, l);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            int e = prepare(false, l);
            while (e == 0) {
                long n = !datagram ? SocketIo.read(fd, to)
                        : address == 0 ? SocketIo.receiveDatagram(fd, to) : SocketIo.receiveFrom(fd, to, address);
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

    /**
     * Reads once into the first {@code n} pieces, at most {@link SocketIo#PIECES}. The count is 0 at the end of a stream, or if the pieces
     * have no bytes.
     */
    public long read(MemorySegment[] to, int n) {
        return read(to, n, false);
    }

    /** Receives a datagram into the first {@code n} pieces, at most {@link SocketIo#PIECES}. */
    public long receive(MemorySegment[] to, int n) {
        return read(to, n, true);
    }

    private long read(MemorySegment[] to, int n, boolean datagram) {
        int refused = begin(false, OpLimits.PLAIN);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            int e = prepare(false, OpLimits.PLAIN);
            while (e == 0) {
                long got = datagram ? SocketIo.receiveDatagram(fd, to, 0, n) : SocketIo.read(fd, to, 0, n);
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

    /** Writes all bytes. The count is less if the write ends early. */
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

    /** Writes all bytes of the pieces, several pieces in a system call. The count is less if the write ends early. */
    public long write(MemorySegment[] from) {
        int refused = begin(true, OpLimits.PLAIN);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            return writeLocked(from);
        } finally {
            unlock(true);
        }
    }

    private long writeLocked(MemorySegment[] from) {
        long done = 0;
        int e = prepare(true, OpLimits.PLAIN);
        int i = 0;
        while (e == 0 && i < from.length) {
            long n = SocketIo.send(fd, from, i, Math.min(SocketIo.PIECES, from.length - i));
            if (n < 0) {
                e = failed((int) -n, true, OpLimits.PLAIN);
                continue;
            }
            done += n;
            for (; i < from.length && n >= from[i].byteSize(); i++) {
                n -= from[i].byteSize();
            }
            if (n > 0) { // The rest of a piece is written alone, because the piece is large or the socket is full.
                long rest = writeLocked(from[i].asSlice(n), 0, OpLimits.PLAIN);
                done += IoResult.count(rest);
                e = IoResult.error(rest);
                i++;
            }
        }
        return IoResult.of(done, e);
    }

    /**
     * Sends a datagram: see {@link SocketIo#sendTo}.
     *
     * @param address the memory with the address, which only the writer that has the descriptor locked may use; 0 for the peer
     * @param waits whether to wait for room in the socket; if not, EAGAIN is returned like any other error
     */
    public long sendTo(MemorySegment from, long address, boolean waits, Limits limits) {
        OpLimits l = OpLimits.of(limits);
        int refused = begin(true, l);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            int e = prepare(true, l);
            while (e == 0) {
                long n = address == 0 ? SocketIo.sendDatagram(fd, from) : SocketIo.sendTo(fd, from, address);
                if (n >= 0) {
                    return IoResult.of(n, 0);
                }
                e = waits || n == -Errno.EINTR ? failed((int) -n, true, l) : (int) -n;
            }
            return IoResult.of(0, e);
        } finally {
            unlock(true);
        }
    }

    /** Sends to the peer a datagram made of the pieces, at most {@link SocketIo#PIECES}. Waits for room in the socket. */
    public long send(MemorySegment[] from) {
        int refused = begin(true, OpLimits.PLAIN);
        if (refused != 0) {
            return IoResult.of(0, refused);
        }
        try {
            int e = prepare(true, OpLimits.PLAIN);
            while (e == 0) {
                long sent = SocketIo.sendDatagram(fd, from, 0, from.length);
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

    /** Accepts a connection, and returns its descriptor as the count. Skips connections that were aborted meanwhile. */
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

    /** Waits until a connect that is in progress has ended. Returns 0, or an error. */
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

    /** An operation on the descriptor that does not wait. */
    @FunctionalInterface
    public interface Use {
        /** Performs the operation on the descriptor {@code fd}. */
        void with(int fd);
    }

    /**
     * Performs an operation on the descriptor, which stays open meanwhile.
     *
     * @return false after a close
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

    /** Begins an operation, and locks its direction. Returns 0, or the error that refuses the operation. */
    private int begin(boolean write, OpLimits limits) {
        begin();
        return users.lock(write, limits);
    }

    // Deadlines

    /**
     * Sets the deadline of reads, of writes, or of both. The deadline also holds for operations that are waiting now.
     *
     * @param nanos the time from now; 0 or less for a deadline that has passed already, {@link #NO_LIMIT} to remove the deadline
     * @return false after a close
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

    /** Returns whether no close has begun. */
    public boolean isOpen() {
        return users.isOpen();
    }

    /**
     * Closes the descriptor. Present waits, and later operations, end with {@link IoResult#CLOSED}. When this returns the descriptor is
     * closed, even if another thread had begun to close it.
     *
     * @return false when it was closed already, or another thread had begun to close it
     */
    public boolean close() {
        GStack.checkAllToGive();
        Park.preemptPoint();
        boolean first = users.increfAndClose();
        if (first) {
            GStack st = GStack.enterChecked();
            evict();
            GStack.exit(st);
            decref(); // Called outside of enter, because the last user closes the descriptor, which may block in the kernel.
        }
        GStack st = GStack.enterChecked();
        released.acquire(false, WaitReason.FD_SEMACQUIRE);
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

    /**
     * Closes the number. Called when the last user has left: no wait is under way, and no deadline is set. Not called inside {@link
     * GStack#enter}.
     */
    private void destroy() {
        GStack st = GStack.enterChecked();
        giveBack();
        GStack.exit(st);
        Fd.release(fd); // The kernel removes it from the epoll instances. With a linger this may block.
        st = GStack.enterChecked();
        released.release(false);
        GStack.exit(st);
    }
}
