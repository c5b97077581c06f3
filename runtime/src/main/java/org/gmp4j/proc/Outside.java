// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * What may ready a goroutine from outside of all schedulers of the process: threads that are not Ms and are inside a blocking call of
 * ours, or left one less than a second ago, and timers without a scheduler. It holds off {@link Checkdead}. Any thread may call this.
 */
public final class Outside {
    /** A thread counts for this long after its wait has ended: it may ready a goroutine before it waits again. */
    private static final long GRACE_NANOS = 1_000_000_000;

    /** Threads that are not Ms and wait: they may be woken from outside. And functions of timers that run outside. */
    private static final AtomicInteger THREADS = new AtomicInteger();
    /** When one of them last left, by nanoTime; written before THREADS. */
    private static volatile long left = System.nanoTime() - GRACE_NANOS;

    /** Whether a timer outside all schedulers is set. */
    private static volatile @Nullable BooleanSupplier alarms; // Null until there may be any.

    private Outside() {
    }

    /** A thread begins to wait, or begins something else that may ready a goroutine: the function of a timer. */
    public static void begins() {
        int _ = THREADS.incrementAndGet();
    }

    /** Ends {@link #begins}. */
    public static void ends() {
        left = System.nanoTime();
        int _ = THREADS.decrementAndGet();
    }

    /** Whether threads that are not Ms wait, or did a moment ago. */
    static boolean threads() {
        return THREADS.get() > 0 || System.nanoTime() - left < GRACE_NANOS;
    }

    /** The rehearsal is over: what a thread did in it readies no goroutine of the user's. */
    public static void rehearsed() {
        left = System.nanoTime() - GRACE_NANOS;
    }

    /** Called by the timers: sets how to find out whether one is set outside all schedulers; that is called under sched.lock. */
    public static void alarms(BooleanSupplier set) {
        alarms = set;
    }

    /** Whether a timer outside all schedulers may ready a goroutine. */
    static boolean alarms() {
        BooleanSupplier set = alarms;
        return set != null && set.getAsBoolean();
    }
}
