// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.struct.FieldHandle;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a {@link TimerHeap} other than a sleeping goroutine: at {@link #when} the thread that takes it checks a timer.
 *
 * <pre>
 *  LIVE   to ZOMBIE   by the timer, under its lock: it need not be checked any more
 *  ZOMBIE to LIVE     by the timer, under its lock: it was set again, not before this entry's time
 *  LIVE   to GONE     by the thread that takes the entry off the heap because it is due, and then checks the timer
 *  ZOMBIE to GONE     by a thread that finds it in the heap: due, at the head, or in a sweep
 *  GONE   to LIVE     by the thread that took it off, and had no memory for the check; the timer does not refer to it any more
 * </pre>
 *
 * A GONE alarm is in no heap. All edges but the last are CASes: the timer and the heap have different locks.
 */
final class Alarm {
    private static final int LIVE = 0;
    private static final int ZOMBIE = 1;
    private static final int GONE = 2;

    private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), Alarm.class, "state", int.class);

    /** Its key in the heap. */
    final long when;
    /** The heap in which it is. Written at the push, and by a move with the world stopped. The timer reads it only to count a zombie. */
    @SuppressWarnings("NullAway.Init")
    volatile TimerHeap heap;
    /** Null in a zombie, so that a stopped timer is garbage at once. Written by the timer before it makes it LIVE. */
    private @Nullable RuntimeTimer timer;
    private volatile int state;

    Alarm(RuntimeTimer timer, long when) {
        this.timer = timer;
        this.when = when;
    }

    /** Makes a live alarm a zombie: its timer need not be checked any more. Called under the timer's lock. */
    void bury() {
        if (STATE.compareAndSet(this, LIVE, ZOMBIE)) {
            timer = null;
            int _ = heap.zombies.incrementAndGet();
        }
    }

    /** Makes this LIVE again. Returns false if it is no longer in its heap. Called under the lock of {@code t}. */
    boolean revive(RuntimeTimer t) {
        int s = state;
        if (s == ZOMBIE) {
            timer = t;
            if (STATE.compareAndSet(this, ZOMBIE, LIVE)) {
                heap.zombies.decrementAndGet();
                return true;
            }
            timer = null;
            return false;
        }
        return s == LIVE; // A thread may make it GONE at once. That thread then checks the timer.
    }

    /** Returns the timer to be checked, or null for a zombie. Called under the heap's lock, when this was taken off the heap. */
    @Nullable RuntimeTimer take() {
        if (STATE.compareAndSet(this, LIVE, GONE)) {
            return timer;
        }
        if (!STATE.compareAndSet(this, ZOMBIE, GONE)) {
            return take(); // It was revived between the two CASes.
        }
        return null;
    }

    /** Makes a zombie GONE. Returns whether this was a zombie. Called under the heap's lock. */
    boolean buried() {
        return state == ZOMBIE && STATE.compareAndSet(this, ZOMBIE, GONE);
    }

    /** Makes a GONE alarm LIVE, which the caller puts back into the heap. Called under the heap's lock; only the caller has the alarm. */
    void comeBack(RuntimeTimer t) {
        timer = t;
        state = LIVE;
    }

    boolean live() {
        return state == LIVE;
    }
}
