// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.time.Duration;
import java.time.Instant;

import org.gmp4j.lock.HeapMutex;
import org.jspecify.annotations.Nullable;

/**
 * A timer: when it fires, and its alarm. All of it is under {@link #lock}, which is the channel's for a timer that has one.
 *
 * <p>What counts is {@link #when}. A heap holds alarms: an alarm is a promise that a thread looks at the timer at some
 * time not after {@code when}. So a timer that is set to later leaves its alarm where it is (whoever looks too early sets the next), a
 * timer that is stopped makes its alarm a zombie, and a timer that is set to earlier buries the old alarm and adds another, to the heap of
 * the caller's P. No operation touches another P's heap, or waits for its lock.
 *
 * <p>Invariant: while {@code when} is not 0 and the timer has to be looked at (a function's always, a channel's while
 * somebody waits on it), it has a LIVE alarm not after {@code when}, or a thread that took one has not had the lock yet.
 *
 * <p>Rejected: Go's own scheme, where the heap's entries point to the timers and whoever next looks at the heap puts modified
 * ones right: an O(n) pass over it whenever a timer was set to earlier. Rejected too: removing stopped timers at
 * once, which needs their positions to be written at each step of a sift and the lock of whichever P they are on.
 */
public abstract class RuntimeTimer {
    /** A channel's lock or the timer's own; ranks below that of the heaps. */
    protected final HeapMutex lock;
    /** Whose clock it goes by; null for the machine's. */
    protected final @Nullable TimeBubble bubble;
    /** nanoTime when it fires; 0 when it is stopped or has fired. */
    protected long when;
    /** The newest alarm, zombie or not; may be GONE. */
    private @Nullable Alarm alarm;

    /** A stopped timer. */
    protected RuntimeTimer(HeapMutex lock) {
        this.lock = lock;
        this.bubble = TimeBubble.current();
    }

    /** The nanoTime by the timer's clock. */
    protected final long now() {
        return bubble == null ? System.nanoTime() : bubble.now();
    }

    /** The time by the timer's clock. */
    protected final Instant instant() {
        return bubble == null ? Instant.now() : bubble.instantHere();
    }

    /** The nanoTime {@code nanos} from now, now if less than 0; "for ever" when it does not fit. */
    protected final long in(long nanos) {
        return in(now(), nanos);
    }

    static long in(long now, long nanos) {
        long when = now + Math.max(0, nanos);
        return when <= 0 ? Long.MAX_VALUE : when;
    }

    /** A duration in nanoseconds; the nearest long when it does not fit. */
    public static long nanos(Duration d) {
        try {
            return d.toNanos();
        } catch (ArithmeticException e) {
            return d.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    /** Under the lock, with {@code when} set: sees to it that the timer is looked at then. Without memory nothing has changed. */
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

    /** Puts an alarm into the heap at hand; the tests have others. */
    void add(Alarm a) {
        if (bubble == null) {
            TimerHeaps.add(a);
        } else {
            bubble.add(a);
        }
    }

    /** Under the lock: no look is needed any more. */
    protected final void disarm() {
        if (alarm != null) {
            alarm.bury();
        }
    }

    /** From whoever took the alarm off its heap, without locks. */
    final void ring(Alarm a, long now) {
        lock.lock();
        if (alarm == a) {
            alarm = null;
        }
        look(now);
    }

    /**
     * Fires if due at {@code now}, else arms again if still wanted. Called with the lock held and gives it back; on an M's own
     * stack, or outside all schedulers. When there is no memory it throws, with the lock given back, and is called again later: it
     * must then do what it has not done.
     */
    protected abstract void look(long now);

    /**
     * Before a user stops or resets it; the runtime itself may do so from anywhere.
     *
     * @throws IllegalStateException with {@code misuse} when the timer is a bubble's, and the caller is no goroutine of it
     */
    public final void checkUser(String misuse) {
        if (bubble != null) {
            bubble.check(misuse);
        }
    }

    /** Stops it; true if that kept it from firing. The caller is inside {@code GStack.enter}. */
    public abstract boolean stop();

    /** Sets it to fire {@code nanos} from now; true if it had not fired. The caller is inside {@code GStack.enter}. */
    public abstract boolean reset(long nanos);
}
