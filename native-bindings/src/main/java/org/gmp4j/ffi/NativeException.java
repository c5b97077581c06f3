// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * Thrown when a system call has failed. The message has the call, the error's symbol and its meaning, such as
 * {@code sched_setaffinity(0, {4095}) failed: EINVAL (Invalid argument)}.
 */
public final class NativeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The call, with the arguments that matter. */
    private final String call;

    /** The error number. */
    private final int errno;

    /**
     * Makes the exception.
     *
     * @param call the call, with the arguments that matter
     * @param errno the error number, positive
     */
    public NativeException(String call, int errno) {
        super(call + " failed: " + Errno.describe(errno));
        this.call = call;
        this.errno = errno;
    }

    /**
     * Returns the failed call.
     *
     * @return its name and the arguments that matter
     */
    public String call() {
        return call;
    }

    /**
     * Returns the error number.
     *
     * @return a positive number, which need not be one of {@link Errno}'s constants
     */
    public int errno() {
        return errno;
    }
}
