// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import org.gmp4j.ffi.linux.linux_h;

/**
 * Calls epoll, which reports the file descriptors of a set that are ready. An epoll instance is a file descriptor itself, and
 * {@link Fd#close} closes it. Thread-safe, but only one call at a time may use a buffer of events.
 */
public final class Epoll {
    /** {@link #control}: watch a descriptor. */
    public static final int ADD = linux_h.EPOLL_CTL_ADD;

    /** {@link #control}: change the watched events. */
    public static final int MODIFY = linux_h.EPOLL_CTL_MOD;

    /** {@link #control}: stop watching a descriptor. */
    public static final int DELETE = linux_h.EPOLL_CTL_DEL;

    /** Event: readable. */
    public static final int IN = linux_h.EPOLLIN;

    /** Event: urgent data. */
    public static final int PRI = linux_h.EPOLLPRI;

    /** Event: writable. */
    public static final int OUT = linux_h.EPOLLOUT;

    /** Event: the peer will not send any more. */
    public static final int RDHUP = linux_h.EPOLLRDHUP;

    /** Event, always watched: the descriptor has an error. */
    public static final int ERR = linux_h.EPOLLERR;

    /** Event, always watched: the connection or pipe is hung up. */
    public static final int HUP = linux_h.EPOLLHUP;

    /** Flag: report a descriptor only when its state changes (edge-triggered). */
    public static final int EDGE = linux_h.EPOLLET;

    /** Flag: report a descriptor once, and again only after {@link #MODIFY}. */
    public static final int ONESHOT = linux_h.EPOLLONESHOT;

    /** Whether struct epoll_event is packed, as on x86-64 alone. */
    private static final boolean PACKED = !"aarch64".equals(System.getProperty("os.arch"));

    /** Size of one event in the buffer of {@link #await}, in bytes. */
    public static final int EVENT_BYTES = PACKED ? 12 : 16;

    private static final long DATA_OFFSET = PACKED ? 4 : 8;
    private static final Call.Function CONTROL = Call.function("gmp_epoll_ctl");
    private static final Call.Function WAIT = Call.function("gmp_epoll_wait");
    private static final Call.Function WAIT_NS = Call.function("gmp_epoll_wait_ns");

    private Epoll() {
    }

    /**
     * Makes an epoll instance that exec closes.
     *
     * @return its descriptor
     * @throws NativeException EMFILE or ENFILE without a free descriptor
     */
    public static int create() {
        int fd = (int) Call.call(Call.function("gmp_epoll_create"));
        if (fd < 0) {
            throw new NativeException("epoll_create1", -fd);
        }
        return fd;
    }

    /**
     * Changes the set of watched descriptors. Does not allocate.
     *
     * @param epfd the instance
     * @param op {@link #ADD}, {@link #MODIFY} or {@link #DELETE}
     * @param fd the descriptor
     * @param events events and flags, or-ed
     * @param data comes back with each event of this descriptor
     * @return 0, or {@link Errno#EEXIST}, {@link Errno#ENOENT}, {@link Errno#EPERM} (the file cannot be polled),
     *     or another error number
     */
    public static int control(int epfd, int op, int fd, int events, long data) {
        return -(int) Call.call(CONTROL, epfd, op, fd, events, data, 0);
    }

    /**
     * Waits until a descriptor is ready. Does not allocate. Blocks the OS thread.
     *
     * @param epfd the instance
     * @param events address of a buffer for {@code max} events of {@link #EVENT_BYTES} each
     * @param max the most events, positive
     * @param timeoutMillis the limit in milliseconds; 0 does not wait, -1 waits without limit
     * @return the number of events in the buffer, or the negated error number ({@code -Errno.EINTR})
     */
    public static int await(int epfd, long events, int max, int timeoutMillis) {
        return (int) Call.call(WAIT, epfd, events, max, timeoutMillis, 0, 0);
    }

    /**
     * Waits until a descriptor is ready, with a limit as exact as the thread's timer slack. Does not allocate. Blocks the OS
     * thread.
     *
     * @param epfd the instance
     * @param events address of a buffer for {@code max} events of {@link #EVENT_BYTES} each
     * @param max the most events, positive
     * @param nanos the limit in nanoseconds; 0 does not wait, negative waits without limit
     * @return the number of events in the buffer, or the negated error number ({@code -Errno.EINTR})
     */
    public static int awaitNanos(int epfd, long events, int max, long nanos) {
        return (int) Call.call(WAIT_NS, epfd, events, max, nanos, 0, 0);
    }

    /**
     * Reads the events of an entry in the buffer.
     *
     * @param events the buffer's address
     * @param i the entry's index
     * @return events, or-ed
     */
    public static int eventsAt(long events, int i) {
        return Memory.getInt(events + (long) i * EVENT_BYTES);
    }

    /**
     * Reads the data of an entry in the buffer, which {@link #control} was given.
     *
     * @param events the buffer's address
     * @param i the entry's index
     * @return the data
     */
    public static long dataAt(long events, int i) {
        return Memory.getLong(events + (long) i * EVENT_BYTES + DATA_OFFSET);
    }
}
