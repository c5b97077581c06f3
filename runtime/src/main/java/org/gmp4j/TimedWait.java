// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.Sudog;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.Waiting;

/**
 * Ends a wait in a channel's queue when its time is up; under the channel's lock. Waker and time race for the sudog: whoever
 * takes it off the queue has it. The waiter calls {@link #end} before it gives the sudog back, so that the other never looks
 * at one that is somebody else's.
 */
final class TimedWait extends RuntimeTimer {
    private final Hchan c;
    private final WaitQ q;
    private long sg;
    private boolean timeUp;

    TimedWait(Hchan c, WaitQ q) {
        super(c.lock);
        this.c = c;
        this.q = q;
    }

    /** Under the lock, before {@code waiter} is queued; the lock is held until it is parked. */
    void begin(long waiter, long nanos) {
        sg = waiter;
        when = in(nanos);
        arm();
    }

    /** After the wait, without the lock: whether time ended it. */
    boolean end() {
        boolean unused = stop();
        return timeUp; // Written before the wake.
    }

    @Override
    protected void look(long now) {
        boolean wake = false;
        try {
            if (when != 0 && now >= when) {
                when = 0;
                disarm();
                wake = q.remove(sg);
                if (wake) {
                    timeUp = true;
                    Sudog.setSuccess(sg, 0);
                    c.timerLeft();
                }
            } else if (when != 0) {
                arm();
            }
        } finally { // Also when there was no memory for the next alarm.
            lock.unlock();
        }
        if (wake) {
            Waiting.wake(sg);
        }
    }

    @Override
    public boolean stop() {
        lock.lock();
        boolean pending = when != 0;
        when = 0;
        disarm();
        lock.unlock();
        return pending;
    }

    @Override
    public boolean reset(long nanos) {
        throw new UnsupportedOperationException();
    }
}
