// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.ValueLayout;

import org.gmp4j.ffi.linux.linux_h;

/**
 * epoll: which of many file descriptors are ready. The instance is a file descriptor itself, closed by
 * {@link Fd#close}. Thread-safe; a buffer of events belongs to one {@link #await} at a time.
 */
public final class Epoll {
    /** {@link #control}: begin to watch a descriptor. */
    public static final int ADD = linux_h.EPOLL_CTL_ADD();

    /** {@link #control}: change what is watched. */
    public static final int MODIFY = linux_h.EPOLL_CTL_MOD();

    /** {@link #control}: stop watching. */
    public static final int DELETE = linux_h.EPOLL_CTL_DEL();

    /** Event: readable. */
    public static final int IN = linux_h.EPOLLIN();

    /** Event: urgent data. */
    public static final int PRI = linux_h.EPOLLPRI();

    /** Event: writable. */
    public static final int OUT = linux_h.EPOLLOUT();

    /** Event: the peer will send no more. */
    public static final int RDHUP = linux_h.EPOLLRDHUP();

    /** Event, always watched: an error. */
    public static final int ERR = linux_h.EPOLLERR();

    /** Event, always watched: hung up. */
    public static final int HUP = linux_h.EPOLLHUP();

    /** Flag: report changes only, not states. */
    public static final int EDGE = linux_h.EPOLLET();

    /** Flag: report once, then stay silent until {@link #MODIFY}. */
    public static final int ONESHOT = linux_h.EPOLLONESHOT();

    /** The kernel packs struct epoll_event on x86-64 alone. */
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
     * Makes an instance, closed on exec.
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
     * Changes what is watched. Does not allocate.
     *
     * @param epfd the instance
     * @param op {@link #ADD}, {@link #MODIFY} or {@link #DELETE}
     * @param fd the descriptor
     * @param events events and flags, or-ed
     * @param data comes back with each event of this descriptor
     * @return 0, or {@link Errno#EEXIST}, {@link Errno#ENOENT}, {@link Errno#EPERM} (not a pollable file), another
     *     error number
     */
    public static int control(int epfd, int op, int fd, int events, long data) {
        return -(int) Call.call(CONTROL, epfd, op, fd, events, data, 0);
    }

    /**
     * Waits until something is ready. Does not allocate; blocks the OS thread.
     *
     * @param epfd the instance
     * @param events address of room for {@code max} events of {@link #EVENT_BYTES}
     * @param max how many at most, positive
     * @param timeoutMillis how long at most, in milliseconds; 0 only looks, -1 waits for ever
     * @return how many events are in the buffer, or the negated error number ({@code -Errno.EINTR})
     */
    public static int await(int epfd, long events, int max, int timeoutMillis) {
        return (int) Call.call(WAIT, epfd, events, max, timeoutMillis, 0, 0);
    }

    /**
     * Waits until something is ready, with a limit as exact as the thread's timer slack. Does not allocate; blocks the OS
     * thread.
     *
     * @param epfd the instance
     * @param events address of room for {@code max} events of {@link #EVENT_BYTES}
     * @param max how many at most, positive
     * @param nanos how long at most, in nanoseconds; 0 only looks, negative waits for ever
     * @return how many events are in the buffer, or the negated error number ({@code -Errno.EINTR})
     */
    public static int awaitNanos(int epfd, long events, int max, long nanos) {
        return (int) Call.call(WAIT_NS, epfd, events, max, nanos, 0, 0);
    }

    /**
     * What happened, of an event in the buffer.
     *
     * @param events the buffer's address
     * @param i which event
     * @return events, or-ed
     */
    public static int eventsAt(long events, int i) {
        return Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, events + (long) i * EVENT_BYTES);
    }

    /**
     * The data given to {@link #control}, of an event in the buffer.
     *
     * @param events the buffer's address
     * @param i which event
     * @return the data
     */
    public static long dataAt(long events, int i) {
        return Memory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, events + (long) i * EVENT_BYTES + DATA_OFFSET);
    }
}
