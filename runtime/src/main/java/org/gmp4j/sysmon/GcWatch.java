// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Notices that the collector ran, so that caches can be emptied then: an object that only a weak reference held is gone. Sysmon
 * looks for that, and so does a thread that misses in such a cache. Young collections count, and there may be many a second, so the
 * caches are emptied at most once a second.
 */
public final class GcWatch {
    private static final long LEAST_NANOS = 1_000_000_000;

    /** The object to be collected, and since when. */
    private static final class Sentinel extends WeakReference<Object> {
        /** Changed only when there is no memory for another sentinel; by sysmon and by threads that miss in a cache, even at once. */
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

    /** Sets what is done then: it must be short, and take no lock of the JDK's, for sysmon may run it. */
    public static void onGc(Runnable r) {
        task = r;
    }

    /** Runs the task if the collector ran since the last time. Cheap otherwise. */
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
            s.since = System.nanoTime(); // Memory is scarce, so the caches are emptied all the same.
            task.run();
        }
    }
}
