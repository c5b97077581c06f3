// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Notices that the collector ran, for caches that are emptied by its beat: an object that only a weak reference holds is
 * gone. Sysmon looks, and whoever misses in such a cache. Young collections count, and there may be many a second, so a beat
 * comes at most once a second.
 */
public final class GcWatch {
    private static final long LEAST_NANOS = 1_000_000_000;

    /** The object to be collected, and since when. */
    private static final class Sentinel extends WeakReference<Object> {
        /** Moved on only where there is no memory for another; sysmon and who misses in a cache may do so at once. */
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

    /** Sets what a beat does: short, and without a lock of the JDK's, for sysmon may run it. */
    public static void onGc(Runnable r) {
        task = r;
    }

    /** Runs the task if the collector ran since the last beat. Cheap otherwise. */
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
            s.since = System.nanoTime(); // The collector is at work indeed: what can be emptied should be.
            task.run();
        }
    }
}
