// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/** Reads the clock of all timeouts and timestamps. Thread-safe. */
public final class Clock {
    private Clock() {
    }

    /**
     * Reads CLOCK_MONOTONIC, the clock of the kernel's futexes, epoll and timers. On Linux HotSpot's {@code System.nanoTime} reads this
     * clock (a test compares the two), and as an intrinsic it is cheaper than a downcall.
     *
     * @return nanoseconds since a fixed moment; never decreases
     */
    public static long monotonicNanos() {
        return System.nanoTime();
    }
}
