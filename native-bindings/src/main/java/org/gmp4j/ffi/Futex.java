// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * Futexes: sleeping on a 32-bit word of off-heap memory until another thread of this process says that it changed.
 *
 * <p>The protocol is the caller's: a waiter says which value it saw, and the kernel puts it to sleep only while the
 * word still holds that value; a waker changes the word first and then calls {@link #wake}. A waiter may wake without
 * reason, so it looks at the word again.
 *
 * <p>Thread-safe, no allocation. {@link #await} blocks the OS thread: a virtual thread that calls it pins its carrier.
 */
public final class Futex {
    private static final Call.Function WAIT = Call.function("gmp_futex_wait");
    private static final Call.Function WAKE = Call.function("gmp_futex_wake");

    private Futex() {
    }

    /**
     * Sleeps while the word holds {@code expected}, without time limit.
     *
     * @param addr address of the word, a multiple of 4
     * @param expected the value on which to sleep
     * @return 0 when woken or for no reason, {@link Errno#EAGAIN} when the word held another value,
     *     {@link Errno#EINTR} when a signal came
     */
    public static int await(long addr, int expected) {
        return -(int) Call.call(WAIT, addr, expected, -1);
    }

    /**
     * Sleeps while the word holds {@code expected}, at most for some time.
     *
     * @param addr address of the word, a multiple of 4
     * @param expected the value on which to sleep
     * @param timeoutNanos how long at most, in nanoseconds of CLOCK_MONOTONIC from now on; negative for ever. The
     *     kernel adds the thread's timer slack, see {@link OsThread#setTimerSlack}
     * @return 0 when woken or for no reason, {@link Errno#EAGAIN} when the word held another value,
     *     {@link Errno#EINTR} when a signal came, {@link Errno#ETIMEDOUT} when the time was over
     */
    public static int await(long addr, int expected, long timeoutNanos) {
        return -(int) Call.call(WAIT, addr, expected, timeoutNanos);
    }

    /**
     * Wakes threads that sleep on the word.
     *
     * @param addr address of the word, a multiple of 4
     * @param n how many at most
     * @return how many were woken
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
