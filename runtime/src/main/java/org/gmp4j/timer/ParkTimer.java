// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.util.concurrent.TimeUnit;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.GStack;
import org.gmp4j.stack.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * The limit of time of a goroutine's wait in the JDK: {@code LockSupport.parkNanos}, {@code Thread.sleep}, {@code Object.wait}. Each stack
 * gets one such timer, at its first wait with a limit of time. When the timer fires, the wait for which it was set may be over. Then a
 * later park may return spuriously, which the specification of park allows. A later {@code Object.wait} does not end, because it has
 * another number.
 */
class ParkTimer extends RuntimeTimer implements Timeout {
    private final GStack st;
    /** The number of the wait for which the timer is set. Guarded by the lock. */
    private int wait;
    /** Whether {@link #begin} is setting the timer, on the M that parks the goroutine. Guarded by the lock. */
    private boolean parking;

    ParkTimer(GStack st) {
        super(new HeapMutex(LockRank.SEMA));
        this.st = st;
    }

    @Override
    public void begin(long nanos, int number) {
        lock.lock();
        parking = true;
        try {
            wait = number;
            when = in(nanos);
            arm();
        } catch (Throwable e) {
            when = 0;
            throw e;
        } finally {
            parking = false;
            lock.unlock();
        }
    }

    @Override
    void add(Alarm a) {
        if (parking) {
            TimerHeaps.addParking(st.scheduler(), a);
        } else {
            super.add(a);
        }
    }

    @Override
    protected void look(long now) {
        boolean fires = when != 0 && now >= when;
        int number = wait;
        try {
            if (fires) {
                when = 0;
                disarm(); // A newer alarm would check the timer in vain.
            } else if (when != 0) {
                arm();
            }
        } finally {
            lock.unlock();
        }
        if (fires) {
            st.timedOut(number);
        }
    }

    /** Stops the timer. Called on the M that is about to run the goroutine. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return stop();
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public boolean isDone() {
        return false;
    }

    @Override
    public @Nullable Void get() {
        throw new UnsupportedOperationException();
    }

    @Override
    public @Nullable Void get(long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }
}
