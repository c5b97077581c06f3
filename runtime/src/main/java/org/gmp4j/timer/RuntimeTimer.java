// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.time.Duration;
import java.time.Instant;

import org.gmp4j.lock.HeapMutex;
import org.jspecify.annotations.Nullable;

/**
 * A timer: when it fires, and its alarm. {@link #lock} guards all its fields. It is the channel's lock for a timer that has a channel.
 *
 * <p>A timer fires at {@link #when}. A heap holds alarms. An alarm ensures that a thread checks the timer at a time not after
 * {@code when}. So a timer that is set to later leaves its alarm where it is, and a thread that checks the timer too early sets the next
 * alarm. A timer that is stopped makes its alarm a zombie. A timer that is set to earlier buries the old alarm and adds another to the
 * heap of the caller's P. No operation touches another P's heap, or waits for its lock.
 *
 * <p>Invariant: while {@code when} is not 0 and the timer has to be checked (a function's timer always, a channel's while there is a
 * waiter on the channel), it has a LIVE alarm not after {@code when}, or a thread that took such an alarm has not had the lock yet.
 *
 * <p>Rejected: Go's own scheme, where the heap's entries point to the timers, and the next thread that uses the heap moves modified
 * timers to their places. It needs an O(n) pass over the heap whenever a timer was set to earlier. Rejected too: to remove stopped timers
 * at once. Then each step of a sift has to write a timer's position, and a stop needs the lock of the P that has the timer.
 */
public abstract class RuntimeTimer {
    /** A channel's lock or the timer's own; ranks below that of the heaps. */
    protected final HeapMutex lock;
    /** The bubble by whose clock it goes; null for the machine's clock. */
    protected final @Nullable TimeBubble bubble;
    /** nanoTime when it fires; 0 when it is stopped or has fired. */
    protected long when;
    /** The newest alarm, zombie or not; may be GONE. */
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

    /** Returns the time by the timer's clock. */
    protected final Instant instant() {
        return bubble == null ? Instant.now() : bubble.instantHere();
    }

    /** Returns the nanoTime {@code nanos} from now. Less than 0 counts as 0. Returns Long.MAX_VALUE when the sum does not fit. */
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
     * Ensures that the timer is checked not after {@code when}. Called under the lock, with {@code when} set. If there is no memory this
     * throws, and nothing has changed.
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
        alarm = fresh; // A thread that takes it meanwhile waits for the lock.
    }

    /** Puts an alarm into the bubble's heap, or that of the caller's P. Overridden by timers that use another heap, and by tests. */
    void add(Alarm a) {
        if (bubble == null) {
            TimerHeaps.add(a);
        } else {
            bubble.add(a);
        }
    }

    /** Makes the alarm a zombie, as the timer need not be checked any more. Called under the lock. */
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
     * Fires if the timer is due at {@code now}. If not, and it still has to be checked, sets the next alarm. Called with the lock held,
     * which it releases, on an M's own stack or outside all schedulers. If there is no memory it throws, with the lock released, and is
     * called again later. It must then do the part that it has not done.
     */
    protected abstract void look(long now);

    /**
     * Checks that the caller may stop or reset the timer. Called before a user does so. The runtime itself may do so on any thread.
     *
     * @throws IllegalStateException with {@code misuse} when the timer is a bubble's, and the caller is no goroutine of that bubble
     */
    public final void checkUser(String misuse) {
        if (bubble != null) {
            bubble.check(misuse);
        }
    }

    /** Stops the timer. Returns true if that kept it from firing. The caller is inside {@code GStack.enter}. */
    public abstract boolean stop();

    /** Sets the timer to fire {@code nanos} from now. Returns true if it had not fired. The caller is inside {@code GStack.enter}. */
    public abstract boolean reset(long nanos);
}
