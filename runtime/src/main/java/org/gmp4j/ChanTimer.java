// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.lang.ref.Reference;
import java.time.Instant;

import org.gmp4j.timer.TickTimer;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * A timer with a channel, under the channel's lock. While nothing waits on the channel the timer needs no alarm, and only its users
 * refer to it: a receive looks first whether it is due. So a timer that was dropped is garbage, and stop and reset, which empty the
 * buffer under the same lock, leave no stale time.
 */
final class ChanTimer extends TickTimer {
    private final Chan<Instant> c;
    /** Nanoseconds between two ticks; 0 for once. */
    private long period;

    private ChanTimer(Chan<Instant> c, long nanos, long period) {
        super(c.lock);
        this.c = c;
        this.when = in(nanos);
        this.period = period;
    }

    /** Lets {@code org.gmp4j.time} make such timers. */
    static final class Maker implements TickTimer.Maker<Chan<Instant>> {
        @Override
        public TickTimer make(Chan<Instant> c, long nanos, long period) {
            ChanTimer t = new ChanTimer(c, nanos, period);
            c.setTimer(t);
            return t;
        }
    }

    /** The time when it was due, null when it is not; sets the next. Ticks that were missed are left out. */
    private @Nullable Instant due(long now) {
        if (when == 0 || now < when) {
            return null;
        }
        long late = now() - when; // Both clocks now, one right after the other; in this order it errs late, as Go's.
        Instant due = instant().minusNanos(late); // Before anything changes: there may be no memory.
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
     * Under the lock, before somebody receives or chooses. Not while others wait: the time is theirs, and the alarm
     * tells them; it would find that the timer has fired.
     */
    void putIfDue() {
        Instant at = when == 0 || !c.recvq.isEmpty() ? null : due(now());
        if (at != null) {
            long _ = c.give(at, 0); // Into the buffer; left out when an older time is there.
        }
    }

    /** Under the lock. */
    void awaited() {
        if (when != 0) {
            arm();
        }
    }

    /** Under the lock. */
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
        } finally { // Also when there was no memory to set the next tick.
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
        boolean armed = c.recvq.isEmpty();
        try {
            if (!armed) {
                arm();
                armed = true;
            }
        } finally {
            if (!armed) { // No memory for an alarm: it is stopped.
                when = 0;
            }
            lock.unlock();
        }
        return pending;
    }
}
