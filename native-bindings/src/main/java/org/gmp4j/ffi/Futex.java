// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * Futexes, by which a thread sleeps on a 32-bit word of off-heap memory until another thread of this process wakes it.
 *
 * <p>Callers follow this protocol: A waiter passes the value that it has read, and the kernel puts it to sleep only if the word still
 * holds that value. A waker first changes the word and then calls {@link #wake}. Wake-ups may be spurious, so a waiter then reads the word
 * again.
 *
 * <p>Thread-safe, allocates nothing. {@link #await} blocks the OS thread, so a virtual thread that calls it pins its carrier.
 */
public final class Futex {
    private static final Call.Function WAIT = Call.function("gmp_futex_wait");
    private static final Call.Function WAKE = Call.function("gmp_futex_wake");

    private Futex() {
    }

    /**
     * Sleeps without a time limit if the word holds {@code expected}.
     *
     * @param addr address of the word, a multiple of 4
     * @param expected the value that the caller has read
     * @return 0 when it was woken, also spuriously, {@link Errno#EAGAIN} when the word held another value,
     *     {@link Errno#EINTR} when a signal came
     */
    public static int await(long addr, int expected) {
        return -(int) Call.call(WAIT, addr, expected, -1);
    }

    /**
     * Sleeps with a time limit if the word holds {@code expected}.
     *
     * @param addr address of the word, a multiple of 4
     * @param expected the value that the caller has read
     * @param timeoutNanos the limit in nanoseconds of CLOCK_MONOTONIC from now on; negative waits without limit. The
     *     kernel may add the thread's timer slack, see {@link OsThread#setTimerSlack}
     * @return 0 when it was woken, also spuriously, {@link Errno#EAGAIN} when the word held another value,
     *     {@link Errno#EINTR} when a signal came, {@link Errno#ETIMEDOUT} when the time was over
     */
    public static int await(long addr, int expected, long timeoutNanos) {
        return -(int) Call.call(WAIT, addr, expected, timeoutNanos);
    }

    /**
     * Wakes threads that sleep on the word.
     *
     * @param addr address of the word, a multiple of 4
     * @param n the most threads to wake
     * @return the number of threads woken
     * @throws NativeException for a misaligned address
     */
    public static int wake(long addr, int n) {
        int r = (int) Call.call(WAKE, addr, n, 0);
        if (r < 0) {
            throw new NativeException("futex_wake(0x" + Long.toHexString(addr) + ")", -r);
        }
        return r;
    }
}
