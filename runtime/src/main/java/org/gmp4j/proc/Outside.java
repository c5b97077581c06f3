// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Threads and timers that may ready a goroutine from outside of all schedulers of the process: threads that are not Ms and are inside a
 * blocking call of ours, or left one less than a second ago, and timers without a scheduler. They hold off {@link Checkdead}. Any thread
 * may call this class.
 */
public final class Outside {
    /** How long a thread counts after its wait has ended, in ns, as it may ready a goroutine before it waits again. */
    private static final long GRACE_NANOS = 1_000_000_000;

    /** The number of threads that are not Ms and wait, which may be woken from outside, and of functions of timers that run outside. */
    private static final AtomicInteger THREADS = new AtomicInteger();
    /** When one of them last ended, by nanoTime. Written before THREADS. */
    private static volatile long left = System.nanoTime() - GRACE_NANOS;

    /** The function that returns whether a timer outside all schedulers is set. */
    private static volatile @Nullable BooleanSupplier alarms; // Null until the timers set it.

    private Outside() {
    }

    /** Counts a thread that begins to wait, or to run the function of a timer, and may ready a goroutine. */
    public static void begins() {
        int _ = THREADS.incrementAndGet();
    }

    /** Ends {@link #begins}. */
    public static void ends() {
        left = System.nanoTime();
        int _ = THREADS.decrementAndGet();
    }

    /** Returns whether threads that are not Ms wait, or did less than {@link #GRACE_NANOS} ago. */
    static boolean threads() {
        return THREADS.get() > 0 || System.nanoTime() - left < GRACE_NANOS;
    }

    /** Ends the grace of threads of the rehearsal, which ready no goroutine of the user's. Called when the rehearsal is over. */
    public static void rehearsed() {
        left = System.nanoTime() - GRACE_NANOS;
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
