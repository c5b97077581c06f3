// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.time.Duration;
import java.util.Objects;

import org.gmp4j.Cancelable;
import org.jspecify.annotations.NullMarked;

/**
 * Runs something once. Thread-safe, from goroutines, virtual threads and platform threads. A wait for the run is as one for
 * a {@link Mutex}: interrupts leave it alone, and in a bubble it holds the clock. That one run happens before the return of every
 * {@link #run}. Source: Go's {@code sync.Once}.
 */
@NullMarked
public final class Once {
    /** Written with the lock held, after the run. */
    private volatile boolean done;
    private final Mutex mutex = new Mutex();

    /** Nothing was run. */
    public Once() {
    }

    /**
     * Runs {@code f} if this is the first call; others wait until it has ended. If it throws, what it throws comes out of
     * this call, and it counts as run. A call from within {@code f} waits for ever.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public void run(Runnable f) {
        Objects.requireNonNull(f, "run of nil func value");
        if (!done) {
            mutex.lock();
            locked(f);
        }
    }

    /**
     * As {@link #run}, until an interrupt of the calling thread ends the wait for another's run; a run of its own is left alone.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     */
    public void runInterruptibly(Runnable f) throws InterruptedException {
        Objects.requireNonNull(f, "run of nil func value");
        if (!done) {
            mutex.lockInterruptibly();
            locked(f);
        }
    }

    /**
     * As {@link #run}, until {@code ctx} is cancelled while this waits for another's run; a run of its own is left alone.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     */
    public void runUnless(Cancelable ctx, Runnable f) {
        Objects.requireNonNull(f, "run of nil func value");
        if (!done) {
            mutex.lockUnless(ctx);
            locked(f);
        }
    }

    /**
     * As {@link #run}, waiting for another's run for {@code d} at most; zero or less only looks.
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

    /** With the mutex, which it gives back. */
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
