// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.time.Duration;
import java.util.Objects;

import org.gmp4j.Cancelable;

/**
 * Runs one function once. Thread-safe. Goroutines, virtual threads and platform threads may use it. A wait for the run is like a wait for a
 * {@link Mutex}: an interrupt does not end it, and the clock of a bubble does not move on during it. The run happens before the return of
 * every {@link #run}. Source: Go's {@code sync.Once}.
 */
public final class Once {
    /** Written after the run, with the mutex held. */
    private volatile boolean done;
    private final Mutex mutex = new Mutex();

    /** Makes an object that has run no function. */
    public Once() {
    }

    /**
     * Runs {@code f} if this is the first call. Other calls wait until {@code f} has ended. If {@code f} throws an exception, the call that
     * runs {@code f} throws that exception, and {@code f} counts as run. A call from within {@code f} waits for ever.
     */
    public void run(Runnable f) {
        Objects.requireNonNull(f, "run of nil func value");
        if (!done) {
            mutex.lock();
            locked(f);
        }
    }

    /**
     * Like {@link #run}, this runs {@code f} or waits for the run of another thread, but an interrupt of the calling thread ends that wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     */
    public void runInterruptibly(Runnable f) throws InterruptedException {
        Objects.requireNonNull(f, "run of nil func value");
        if (!done) {
            mutex.lockInterruptibly();
            locked(f);
        }
    }

    /**
     * Like {@link #run}, this runs {@code f} or waits for the run of another thread, but a cancel of {@code ctx} ends that wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     */
    public void runUnless(Cancelable ctx, Runnable f) {
        Objects.requireNonNull(f, "run of nil func value");
        if (!done) {
            mutex.lockUnless(ctx);
            locked(f);
        }
    }

    /**
     * Like {@link #run}, this runs {@code f} or waits for the run of another thread, but for {@code d} at most. If {@code d} is zero or
     * less, it does not wait.
     *
     * @return false when the time was up
     */
    public boolean runWithin(Runnable f, Duration d) {
        Objects.requireNonNull(f, "run of nil func value");
        if (!done) {
            if (!mutex.lockWithin(d)) {
                return false;
            }
            locked(f);
        }
        return true;
    }

    /** Runs {@code f} unless a function was run already. The caller holds the mutex, which this unlocks. */
    private void locked(Runnable f) {
        try {
            if (!done) {
                try {
                    f.run();
                } finally {
                    done = true;
                }
            }
        } finally {
            mutex.unlock();
        }
    }
}
