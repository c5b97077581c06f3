// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * A counter behind a file descriptor: wakes a thread out of {@link Epoll#await}. Non-blocking and closed on exec.
 * Closed by {@link Fd#close}. Thread-safe.
 */
public final class EventFd {
    private static final Call.Function ADD = Call.function("gmp_eventfd_add");
    private static final Call.Function TAKE = Call.function("gmp_eventfd_take");

    private EventFd() {
    }

    /**
     * Makes one, with its counter at 0.
     *
     * @return the descriptor
     * @throws NativeException EMFILE or ENFILE without a free descriptor
     */
    public static int create() {
        int fd = (int) Call.call(Call.function("gmp_eventfd"));
        if (fd < 0) {
            throw new NativeException("eventfd", -fd);
        }
        return fd;
    }

    /**
     * Adds to the counter: the descriptor becomes readable.
     *
     * @param fd the descriptor
     * @param n how much, 1 or more
     * @return 0, or {@link Errno#EAGAIN} when the counter is full (the descriptor is readable then, too)
     */
    public static int add(int fd, long n) {
        return -(int) Call.call(ADD, fd, n, 0);
    }

    /**
     * Takes the whole counter and sets it to 0: the descriptor is not readable any more.
     *
     * @param fd the descriptor
     * @return what it held, 1 or more, or {@code -Errno.EAGAIN} when that was 0
     */
    public static long take(int fd) {
        return Call.call(TAKE, fd);
    }
}
