// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import java.util.concurrent.locks.LockSupport;

/**
 * Records that the process ends. HotSpot delays its exit by up to 300 ms while a thread is in native code, where the runtime's threads
 * sleep. So from the last shutdown hook on they sleep in Java code, and check every 10 ms whether they were woken. More than ten threads
 * check less often, so that together they make at most a thousand checks a second. (If thousands of threads checked every 10 ms, they would
 * take all CPUs, and delay the thread that ends the process.) Work that arrives in this phase is done late.
 */
public final class ProcessEnd {
    private static final long NAP_NANOS = 10_000_000;
    private static final long APART_NANOS = 1_000_000;
    /**
     * The duration of a thread's nap, ns; 0 until the process ends. The last shutdown hook writes it once, before it wakes the sleepers,
     * and a sleeper reads it after each wake-up.
     */
    private static volatile long nap;

    private ProcessEnd() {
    }

    /**
     * Records that the last shutdown hook has begun. The caller wakes the threads that are asleep in native code.
     *
     * @param sleepers the greatest number of these threads
     */
    public static void begin(int sleepers) {
        nap = napOf(sleepers);
    }

    /** Returns the duration of a nap, ns, of each of {@code sleepers} threads. */
    static long napOf(int sleepers) {
        return Math.max(NAP_NANOS, sleepers * APART_NANOS);
    }

    /** Returns whether the calling thread has to sleep by {@link #nap}. A virtual thread must not, because a nap would unmount it. */
    public static boolean begun() {
        return nap != 0 && !Thread.currentThread().isVirtual();
    }

    /** Sleeps in Java code for the duration of a nap, but at most {@code nanos} ns (negative: without limit). */
    public static void nap(long nanos) {
        LockSupport.parkNanos(nanos < 0 ? nap : Math.min(nanos, nap));
    }
}
