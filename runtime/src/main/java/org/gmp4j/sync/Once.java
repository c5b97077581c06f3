// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.util.Objects;
import org.jspecify.annotations.NullMarked;

/**
 * Runs something once. Thread-safe, from goroutines, virtual threads and platform threads; who waits for the run waits as for a
 * {@link Mutex}, whatever interrupts come, and in a bubble holds its clock. That one run happens before the return of every
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
     */
    public void run(Runnable f) {
        Objects.requireNonNull(f, "run of nil func value");
        if (!done) {
            first(f);
        }
    }

    private void first(Runnable f) {
        mutex.lock();
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
