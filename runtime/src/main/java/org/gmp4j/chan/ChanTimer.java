// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import java.lang.ref.Reference;
import java.time.Instant;

import org.gmp4j.timer.TickTimer;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * A timer with a channel. The channel's lock guards the timer's fields. The timer needs an alarm only while a receiver waits, because each
 * receive first checks whether the timer is due. Without an alarm the runtime has no reference to the timer, so the timer is garbage once
 * the program drops it. {@code stop} and {@code reset} empty the buffer under the channel's lock, so that no stale time stays in it.
 */
final class ChanTimer extends TickTimer {
    private final Hchan c;
    /** Time between two ticks, ns; 0 for a single tick. */
    private long period;

    private ChanTimer(Hchan c, long nanos, long period) {
        super(c.lock);
        this.c = c;
        this.when = in(nanos);
        this.period = period;
    }

    /** Makes timers for {@code org.gmp4j.time}. */
    static final class Maker implements TickTimer.Maker<Hchan> {
        @Override
        public TickTimer make(Hchan c, long nanos, long period) {
            ChanTimer t = new ChanTimer(c, nanos, period);
            c.setTimer(t);
            return t;
        }
    }

    /**
     * Returns the time at which the timer was due, and sets the time at which it is due next. Returns null when it is not due. Skips missed
     * ticks. Called under the lock.
     */
    private @Nullable Instant due(long now) {
        if (when == 0 || now < when) {
            return null;
        }
        long late = now() - when; // instant() reads the wall clock after now(). So the result may be late, as in Go, but never early.
        Instant due = instant().minusNanos(late); // The allocation may fail, so it comes before any field changes.
        if (period == 0) {
            when = 0;
        } else {
            when += period * (1 + (now - when) / period);
            if (when <= 0) {
                when = Long.MAX_VALUE;
            }
        }
        return due;
    }

    /**
     * Puts the tick into the buffer if the timer is due. Called under the lock, before a receive or a select checks for an element. Does
     * nothing while receivers wait: the alarm delivers the tick to one of them. ({@code give} would dequeue a receiver that this method
     * does not wake.)
     */
    void putIfDue() {
        Instant at = when == 0 || !c.recvq.isEmpty() ? null : due(now());
        if (at != null) {
            long _ = c.give(at, 0); // Puts it into the buffer, or drops it when an older time is there.
        }
    }

    /** Arms the alarm for a receiver that is about to be queued. Called under the lock. */
    void awaited() {
        if (when != 0) {
            arm();
        }
    }

    /** Disarms the alarm, because no receiver waits any more. Called under the lock. */
    void left() {
        disarm();
    }

    @Override
    protected void look(long now) {
        long receiver = 0;
        try {
            if (!c.recvq.isEmpty()) {
                Instant at = due(now);
                if (at != null) {
                    receiver = Math.max(0, c.give(at, 0));
                }
                if (when != 0 && !c.recvq.isEmpty()) {
                    arm();
                } else {
                    disarm();
                }
            }
        } finally { // Runs even if there was no memory for the next alarm.
            lock.unlock();
            if (receiver != 0) {
                Waiting.wake(receiver);
                Reference.reachabilityFence(c); // See Hchan.wake.
            }
        }
    }

    @Override
    public boolean stop() {
        lock.lock();
        boolean pending = c.drain() | when != 0;
        when = 0;
        disarm();
        lock.unlock();
        return pending;
    }

    @Override
    public boolean reset(long nanos) {
        return reset(nanos, 0);
    }

    @Override
    public boolean reset(long nanos, long newPeriod) {
        lock.lock();
        boolean pending = c.drain() | when != 0;
        when = in(nanos);
        period = newPeriod;
        boolean done = c.recvq.isEmpty();
        try {
            if (!done) {
                arm();
                done = true;
            }
        } finally {
            if (!done) { // There was no memory for an alarm, so the timer is stopped.
                when = 0;
            }
            lock.unlock();
        }
        return pending;
    }
}
