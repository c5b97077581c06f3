// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/** The clock of all timeouts and timestamps. Thread-safe. */
public final class Clock {
    private Clock() {
    }

    /**
     * CLOCK_MONOTONIC, the clock that futexes, epoll and timers of the kernel use. On Linux this is what HotSpot's
     * {@code System.nanoTime} reads, and as an intrinsic it is cheaper than any downcall; a test compares the two.
     *
     * @return nanoseconds since some moment before the machine's start; never decreases
     */
    public static long monotonicNanos() {
        return System.nanoTime();
    }
}
