// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.management;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.OwnThread;
import org.jspecify.annotations.Nullable;

/**
 * Closes the scheduler of a {@code Gmp}. If an interrupt or the time limit ends a caller's wait before the last goroutine has ended, a
 * thread waits in the caller's place. Otherwise the scheduler's threads would stay for ever. Thread-safe.
 */
public final class Closer implements Runnable {
    private static final long RETRY_NANOS = 100_000_000;

    private final Scheduler s;
    private final @Nullable Diagnosis diagnosis;
    /** Whether a thread waits in a caller's place. */
    private final AtomicBoolean inPlace = new AtomicBoolean();

    /**
     * Makes the closer of a scheduler.
     *
     * @param diagnosis ends after the scheduler; null for none
     */
    public Closer(Scheduler s, @Nullable Diagnosis diagnosis) {
        this.s = s;
        this.diagnosis = diagnosis;
    }

    /** Implements {@code Gmp.close}. Returns whether all goroutines have ended. */
    public boolean close(long nanos) {
        GStack st = GStack.current();
        if (st != null && st.scheduler() == s) {
            throw new IllegalStateException("close was called from a goroutine of the scheduler it would wait for");
        }
        GStack.checkAll();
        boolean deep = GStack.pinIfDeep();
        try {
            return closed(nanos) || leave();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return leave();
        } finally {
            if (deep) {
                JdkThreads.unpin();
            }
        }
    }

    private boolean closed(long nanos) throws InterruptedException {
        boolean closed = Closing.close(s, nanos);
        if (closed && diagnosis != null) {
            diagnosis.end();
        }
        return closed;
    }

    /** Starts the thread that waits in the caller's place, if there is none yet. Returns false. */
    private boolean leave() {
        if (inPlace.compareAndSet(false, true)) {
            boolean started = false;
            try {
                Thread t = new OwnThread(this, s.name().concat("-close"));
                t.start();
                started = true;
            } catch (OutOfMemoryError e) {
                return false; // The next call of close ends the scheduler itself, or starts this thread.
            } finally {
                inPlace.set(started);
            }
        }
        return false;
    }

    /** Runs in the thread that waits in a caller's place. */
    @Override
    public void run() {
        for (;;) {
            try {
                boolean _ = closed(-1); // The result is false only if the JVM shuts down.
                return;
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(RETRY_NANOS);
            } catch (InterruptedException e) {
                continue; // There is no caller to which the interrupt could be passed.
            }
        }
    }
}
