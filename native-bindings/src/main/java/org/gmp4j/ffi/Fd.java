// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * File descriptors of any kind. Thread-safe, as far as the caller does not close a number that another thread still
 * uses. {@link #read} and {@link #write} block the OS thread unless the descriptor is non-blocking.
 */
public final class Fd {
    private static final Call.Function CLOSE = Call.function("gmp_close");
    private static final Call.Function READ = Call.function("gmp_read");
    private static final Call.Function WRITE = Call.function("gmp_write");

    private Fd() {
    }

    /**
     * Reads.
     *
     * @param fd the descriptor
     * @param buf address of the place to read to
     * @param len bytes at most
     * @return bytes read, 0 at the end, or the negated error number ({@code -Errno.EAGAIN} when it would block)
     */
    public static long read(int fd, long buf, long len) {
        return Call.call(READ, fd, buf, len);
    }

    /**
     * Writes. To a pipe nobody reads, this raises SIGPIPE (ignored by the JVM); for sockets see {@link Sockets#send}.
     *
     * @param fd the descriptor
     * @param buf address of the bytes
     * @param len how many
     * @return bytes written, or the negated error number ({@code -Errno.EAGAIN} when it would block)
     */
    public static long write(int fd, long buf, long len) {
        return Call.call(WRITE, fd, buf, len);
    }

    /**
     * Closes.
     *
     * @param fd the descriptor; the number is free afterwards, whatever the outcome
     * @throws NativeException EBADF, or a delayed write error
     */
    public static void close(int fd) {
        int r = (int) Call.call(CLOSE, fd);
        if (r < 0) {
            throw new NativeException("close(" + fd + ")", -r);
        }
    }

    /**
     * Closes, and ignores an error: for callers that could do nothing about one. Does not allocate.
     *
     * @param fd the descriptor; the number is free afterwards
     */
    public static void release(int fd) {
        long _ = Call.call(CLOSE, fd);
    }
}
