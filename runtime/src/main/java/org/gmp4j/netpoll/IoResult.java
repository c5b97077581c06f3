// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

/**
 * The result of an operation: the number of bytes that were read or written, and the error that ended the operation early. It is a long, so
 * that an operation allocates no object.
 */
public final class IoResult {
    /** The error of a descriptor that was closed. */
    public static final int CLOSED = 0xFFFF;
    /** The error of a deadline that has passed. */
    public static final int TIMED_OUT = 0xFFFE;
    /** The error of an interrupt that has ended the caller's wait. */
    public static final int INTERRUPTED = 0xFFFD;
    /** The error of a context that has ended the caller's wait. */
    public static final int CANCELED = 0xFFFC;

    private static final int COUNT_SHIFT = 16;

    private IoResult() {
    }

    static long of(long count, int error) {
        return count << COUNT_SHIFT | error;
    }

    /** Returns the number of bytes that were read or written; after {@link PollFd#accept} the descriptor. */
    public static long count(long result) {
        return result >>> COUNT_SHIFT;
    }

    /** Returns the error: 0, an error number, {@link #CLOSED}, {@link #TIMED_OUT}, {@link #INTERRUPTED} or {@link #CANCELED}. */
    public static int error(long result) {
        return (int) result & 0xFFFF;
    }
}
