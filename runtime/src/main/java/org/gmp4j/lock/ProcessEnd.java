// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import java.util.concurrent.locks.LockSupport;

/**
 * Whether the process ends. HotSpot puts its exit off by up to 300 ms while a thread is in native code, and the runtime's threads sleep
 * there. So from the last shutdown hook on they sleep in Java code, and look each 10 ms whether they were woken. Work that comes then is
 * late, but it is done.
 */
public final class ProcessEnd {
    private static final long NAP_NANOS = 10_000_000;
    private static volatile boolean begun;

    private ProcessEnd() {
    }

    /** The last shutdown hook has begun. The caller wakes the threads that are asleep in native code. */
    public static void begin() {
        begun = true;
    }

    /** Whether the calling thread has to sleep by {@link #nap}. A virtual thread must not: it would leave its M. */
    public static boolean begun() {
        return begun && !Thread.currentThread().isVirtual();
    }

    /** Sleeps in Java code for at most {@code nanos} nanoseconds, negative for no limit, and never for long. */
    public static void nap(long nanos) {
        LockSupport.parkNanos(nanos < 0 ? NAP_NANOS : Math.min(nanos, NAP_NANOS));
    }
}
