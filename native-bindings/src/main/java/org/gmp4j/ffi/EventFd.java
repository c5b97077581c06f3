// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * A counter with a file descriptor, which wakes a thread from {@link Epoll#await}. The descriptor is non-blocking and closed on exec.
 * {@link Fd#close} closes it. Thread-safe.
 */
public final class EventFd {
    private static final Call.Function ADD = Call.function("gmp_eventfd_add");
    private static final Call.Function TAKE = Call.function("gmp_eventfd_take");

    private EventFd() {
    }

    /**
     * Makes an eventfd whose counter is 0.
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
     * Adds to the counter, which makes the descriptor readable.
     *
     * @param fd the descriptor
     * @param n the number to add, 1 or more
     * @return 0, or {@link Errno#EAGAIN} when the counter is full; the descriptor is readable then as well
     */
    public static int add(int fd, long n) {
        return -(int) Call.call(ADD, fd, n, 0);
    }

    /**
     * Resets the counter to 0, after which the descriptor is not readable any more.
     *
     * @param fd the descriptor
     * @return the counter before, 1 or more, or {@code -Errno.EAGAIN} when it was 0
     */
    public static long take(int fd) {
        return Call.call(TAKE, fd);
    }
}
