// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * Reads, writes and closes file descriptors of any kind. Thread-safe, as long as no caller closes a descriptor that another thread
 * still uses. {@link #read} and {@link #write} block the OS thread unless the descriptor is non-blocking.
 */
public final class Fd {
    private static final Call.Function CLOSE = Call.function("gmp_close");
    private static final Call.Function READ = Call.function("gmp_read");
    private static final Call.Function WRITE = Call.function("gmp_write");

    private Fd() {
    }

    /**
     * Reads bytes.
     *
     * @param fd the descriptor
     * @param buf address of the buffer
     * @param len its size in bytes
     * @return bytes read, 0 at the end, or the negated error number ({@code -Errno.EAGAIN} when it would block)
     */
    public static long read(int fd, long buf, long len) {
        return Call.call(READ, fd, buf, len);
    }

    /**
     * Writes bytes. On a pipe without a reader this raises SIGPIPE, which the JVM ignores. {@link Sockets#send} raises no signal.
     *
     * @param fd the descriptor
     * @param buf address of the bytes
     * @param len their number
     * @return bytes written, or the negated error number ({@code -Errno.EAGAIN} when it would block)
     */
    public static long write(int fd, long buf, long len) {
        return Call.call(WRITE, fd, buf, len);
    }

    /**
     * Closes a descriptor.
     *
     * @param fd the descriptor; its number is free afterwards, also after an error
     * @throws NativeException EBADF, or a delayed write error
     */
    public static void close(int fd) {
        int r = (int) Call.call(CLOSE, fd);
        if (r < 0) {
            throw new NativeException("close(" + fd + ")", -r);
        }
    }

    /**
     * Closes a descriptor and ignores an error, for callers that cannot handle one. Does not allocate.
     *
     * @param fd the descriptor; its number is free afterwards
     */
    public static void release(int fd) {
        long _ = Call.call(CLOSE, fd);
    }
}
