// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Detects that the collector ran, so that caches can be emptied. A collection frees an object to which only a weak reference refers. Sysmon
 * checks for that, and so does each thread that finds one of the caches empty. Young collections count, and there may be many in a second,
 * so the caches are emptied at most once a second. Any thread may call the methods.
 */
public final class GcWatch {
    private static final long LEAST_NANOS = 1_000_000_000;

    /** The weak reference to the object that the collector is to take. */
    private static final class Sentinel extends WeakReference<Object> {
        /**
         * The nanoTime at which the caches were last emptied. It changes only when there is no memory for another sentinel. Then several
         * threads may write it at the same time, which is harmless.
         */
        private volatile long since = System.nanoTime();

        Sentinel() {
            super(new Object());
        }
    }

    private static final class Nothing implements Runnable {
        @Override
        public void run() {
        }
    }

    private static final AtomicReference<Sentinel> SENTINEL = new AtomicReference<>(new Sentinel());
    private static volatile Runnable task = new Nothing();

    private GcWatch() {
    }

    /** Sets the task that empties the caches. It must be short, and take no lock of the JDK, because sysmon may run it. */
    public static void onGc(Runnable r) {
        task = r;
    }

    /** Runs the task if the collector has run since the task last ran, at most once a second. Otherwise the call is cheap. */
    public static void look() {
        Sentinel s = SENTINEL.get();
        if (!s.refersTo(null) || System.nanoTime() - s.since < LEAST_NANOS) {
            return;
        }
        try {
            if (SENTINEL.compareAndSet(s, new Sentinel())) {
                task.run();
            }
        } catch (OutOfMemoryError e) {
            s.since = System.nanoTime(); // There is no memory for a sentinel, which is one more reason to empty the caches.
            task.run();
        }
    }
}
