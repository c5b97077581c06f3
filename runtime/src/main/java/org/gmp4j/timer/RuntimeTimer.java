// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.time.Duration;
import java.time.Instant;

import org.gmp4j.lock.HeapMutex;
import org.jspecify.annotations.Nullable;

/**
 * A timer. Its state is the time when it fires, and its alarm. {@link #lock} guards both.
 *
 * <p>A timer fires at {@link #when}. The heaps do not hold timers but alarms. An alarm makes a thread check the timer at {@code when} or
 * earlier. If a timer is set to a later time, its alarm stays in the heap, and the thread that checks the timer too early sets the next
 * alarm. If a timer is stopped, its alarm becomes a zombie. If a timer is set to an earlier time, its old alarm becomes a zombie, and
 * another alarm is added to the heap of the caller's P. No operation waits for the lock of another P's heap.
 *
 * <p>Invariant: if {@code when} is not 0 and the timer has to be checked, one of two conditions holds. The timer has a LIVE alarm that is
 * due at {@code when} or earlier. Or a thread has taken such an alarm off its heap and will take the timer's lock. A timer with a function
 * always has to be checked. A timer with a channel has to be checked while there is a waiter on the channel.
 *
 * <p>Rejected: Go's own scheme, where the heap's entries point to the timers, and the next thread that uses the heap moves modified timers
 * to their places. That scheme needs an O(n) pass over the heap whenever a timer was set to an earlier time. Rejected too: to remove
 * stopped timers at once. Then each step of a sift would have to write a timer's position, and a stop would need the lock of the heap that
 * holds the timer.
 */
public abstract class RuntimeTimer {
    /** The lock of the timer's channel, or the timer's own. It ranks below the heaps' locks. */
    protected final HeapMutex lock;
    /** The bubble whose clock the timer uses; null for the machine's clock. */
    protected final @Nullable TimeBubble bubble;
    /** The nanoTime at which it fires; 0 when it is stopped or has fired. */
    protected long when;
    /** The newest alarm, in any state; null if there is none. */
    private @Nullable Alarm alarm;

    /** Makes a stopped timer. */
    protected RuntimeTimer(HeapMutex lock) {
        this.lock = lock;
        this.bubble = TimeBubble.current();
    }

    /** Returns the nanoTime by the timer's clock. */
    protected final long now() {
        return bubble == null ? System.nanoTime() : bubble.now();
    }

    /** Returns the {@link Instant} by the timer's clock. */
    protected final Instant instant() {
        return bubble == null ? Instant.now() : bubble.instantHere();
    }

    /** Returns the nanoTime {@code nanos} from now. A negative number counts as 0. Returns Long.MAX_VALUE when the sum does not fit. */
    protected final long in(long nanos) {
        return in(now(), nanos);
    }

    static long in(long now, long nanos) {
        long when = now + Math.max(0, nanos);
        return when <= 0 ? Long.MAX_VALUE : when;
    }

    /** Returns a duration in nanoseconds, or the nearest long when it does not fit. */
    public static long nanos(Duration d) {
        try {
            return d.toNanos();
        } catch (ArithmeticException e) {
            return d.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    /**
     * Ensures that a thread checks the timer at {@link #when} or earlier. Called under the lock, with {@code when} set.
     *
     * @throws OutOfMemoryError when there is no memory for an alarm; nothing has changed
     */
    protected final void arm() {
        Alarm a = alarm;
        if (a != null && a.when <= when && a.revive(this)) {
            return;
        }
        Alarm fresh = new Alarm(this, when);
        add(fresh);
        if (a != null) {
            a.bury();
        }
        alarm = fresh; // A thread that has taken the alarm off before this store waits for the lock.
    }

    /**
     * Puts an alarm into the bubble's heap, or else into the heap of the caller's P. Timers with another heap, and tests, override this.
     */
    void add(Alarm a) {
        if (bubble == null) {
            TimerHeaps.add(a);
        } else {
            bubble.add(a);
        }
    }

    /** Makes the alarm a zombie, because the timer no longer needs a check. Called under the lock. */
    protected final void disarm() {
        if (alarm != null) {
            alarm.bury();
        }
    }

    /** Checks the timer. Called without locks by the thread that took the alarm off its heap. */
    final void ring(Alarm a, long now) {
        lock.lock();
        if (alarm == a) {
            alarm = null;
        }
        look(now);
    }

    /**
     * Fires if the timer is due at {@code now}. Otherwise, if it still has to be checked, sets the next alarm. Called under the lock, which
     * it releases, on an M's own stack or outside all schedulers. If there is no memory, it releases the lock and throws. The caller calls
     * it again later, and it must then do the remaining steps.
     */
    protected abstract void look(long now);

    /**
     * Checks that the caller may stop or reset the timer. Called for users only, because the runtime may do so on any thread.
     *
     * @throws IllegalStateException with {@code misuse} when the timer is a bubble's, and the caller is not a goroutine of that bubble
     */
    public final void checkUser(String misuse) {
        if (bubble != null) {
            bubble.check(misuse);
        }
    }

    /** Stops the timer. Returns whether it was pending. The caller is inside {@code GStack.enter}. */
    public boolean stop() {
        lock.lock();
        boolean pending = when != 0;
        when = 0;
        disarm();
        lock.unlock();
        return pending;
    }

    /**
     * Sets the timer to fire {@code nanos} from now. Returns whether it was pending. The caller is inside {@code GStack.enter}. Timers
     * that users cannot set do not override this.
     */
    public boolean reset(long nanos) {
        throw new UnsupportedOperationException();
    }
}
