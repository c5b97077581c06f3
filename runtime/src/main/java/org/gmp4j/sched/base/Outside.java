// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Counts the threads and timers outside of all schedulers of the process that may ready a goroutine. While there are any, {@link Checkdead}
 * reports no deadlock. A thread that is not an M counts while it is inside a blocking call of the runtime, and for a second afterwards. A
 * timer counts if it was made outside all schedulers. Any thread may call this class.
 */
public final class Outside {
    /** How long, ns, a thread counts after the end of its wait, because it may ready a goroutine before it waits again. */
    private static final long GRACE_NANOS = 1_000_000_000;

    /** The number of threads that are not Ms and wait in the runtime, run a timer's function, or ready a goroutine. */
    private static final AtomicInteger THREADS = new AtomicInteger();
    /**
     * The nanoTime when THREADS was last lowered. Written before THREADS is lowered. So a reader that finds 0 in THREADS and then reads
     * this field finds that time or a later one.
     */
    private static volatile long left = System.nanoTime() - GRACE_NANOS;

    /** The function that returns whether a timer outside all schedulers is set. */
    private static volatile @Nullable BooleanSupplier alarms; // Null until the timers set it.

    private Outside() {
    }

    /** Counts a thread that is not an M and begins to wait, to run a timer's function, or to ready a goroutine. */
    public static void begins() {
        int _ = THREADS.incrementAndGet();
    }

    /** Ends {@link #begins}. */
    public static void ends() {
        left = System.nanoTime();
        int _ = THREADS.decrementAndGet();
    }

    /** Returns whether a thread counts, or counted less than {@link #GRACE_NANOS} ago. */
    static boolean threads() {
        return THREADS.get() > 0 || System.nanoTime() - left < GRACE_NANOS;
    }

    /** Sets the function that returns whether a timer outside all schedulers is set. It is called under sched.lock. */
    public static void alarms(BooleanSupplier set) {
        alarms = set;
    }

    /** Returns whether a timer outside all schedulers may ready a goroutine. */
    static boolean alarms() {
        BooleanSupplier set = alarms;
        return set != null && set.getAsBoolean();
    }
}
