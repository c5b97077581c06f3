// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import java.util.concurrent.locks.LockSupport;

/**
 * Whether the process ends. HotSpot puts its exit off by up to 300 ms while a thread is in native code, and the runtime's threads sleep
 * there. So from the last shutdown hook on they sleep in Java code, and look now and then whether they were woken: each 10 ms, or so
 * seldom that all of them together look a thousand times a second. (Thousands that look each 10 ms take all CPUs, and the thread that
 * ends the process would wait for its turn.) Work that comes then is late, but it is done.
 */
public final class ProcessEnd {
    private static final long NAP_NANOS = 10_000_000;
    private static final long APART_NANOS = 1_000_000;
    /**
     * How long a thread naps, ns; 0 until the process ends. The last shutdown hook writes it once, before it wakes the sleepers; a sleeper
     * reads it after each wake-up, and so sees it.
     */
    private static volatile long nap;

    private ProcessEnd() {
    }

    /**
     * Notes that the last shutdown hook has begun. The caller wakes the threads that are asleep in native code.
     *
     * @param sleepers the largest number of them
     */
    public static void begin(int sleepers) {
        nap = napOf(sleepers);
    }

    /** Returns how long each of so many threads naps. */
    static long napOf(int sleepers) {
        return Math.max(NAP_NANOS, sleepers * APART_NANOS);
    }

    /** Returns whether the calling thread has to sleep by {@link #nap}. A virtual thread must not: it would leave its M. */
    public static boolean begun() {
        return nap != 0 && !Thread.currentThread().isVirtual();
    }

    /** Sleeps in Java code for at most {@code nanos} nanoseconds, negative for no limit, and never for long. */
    public static void nap(long nanos) {
        LockSupport.parkNanos(nanos < 0 ? nap : Math.min(nanos, nap));
    }
}
