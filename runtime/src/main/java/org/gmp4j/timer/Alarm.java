// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.struct.FieldHandle;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a {@link TimerHeap} for a timer. (The other entries are sleeping goroutines.) When the alarm is due, at {@link #when}, a
 * thread takes it off the heap and then checks the timer.
 *
 * <pre>
 *  LIVE   to ZOMBIE   by the timer, under its lock: it no longer needs a check
 *  ZOMBIE to LIVE     by the timer, under its lock: it was set again, for {@code when} or a later time
 *  LIVE   to GONE     by the thread that takes the entry off the heap because it is due, and then checks the timer
 *  ZOMBIE to GONE     by a thread that removes the entry from the heap: because it is due, at the head, or in a sweep
 *  GONE   to LIVE     by the thread that took the entry off, if it had no memory for the check; the timer no longer refers to the entry
 * </pre>
 *
 * A GONE alarm is in no heap. All these changes but the last are CASes, because the timer and the heap have different locks.
 */
final class Alarm {
    private static final int LIVE = 0;
    private static final int ZOMBIE = 1;
    private static final int GONE = 2;

    private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), Alarm.class, "state", int.class);

    /** The key in the heap: the nanoTime at which the alarm is due. */
    final long when;
    /**
     * The heap that holds the alarm. Written when the alarm is pushed, and by a move in a stopped world. The timer reads it only to count
     * zombies.
     */
    @SuppressWarnings("NullAway.Init")
    volatile TimerHeap heap;
    /** The timer, which writes this before it makes the alarm LIVE; null in a zombie, so that a stopped timer is garbage at once. */
    private @Nullable RuntimeTimer timer;
    private volatile int state;

    Alarm(RuntimeTimer timer, long when) {
        this.timer = timer;
        this.when = when;
    }

    /** Makes a live alarm a zombie, because its timer no longer needs a check. Called under the timer's lock. */
    void bury() {
        if (STATE.compareAndSet(this, LIVE, ZOMBIE)) {
            timer = null;
            int _ = heap.zombies.incrementAndGet();
        }
    }

    /** Makes this alarm LIVE again. Returns false if it is no longer in its heap. Called under the lock of {@code t}. */
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
        return s == LIVE; // A thread that makes a LIVE alarm GONE checks the timer.
    }

    /**
     * Makes this alarm GONE. Returns the timer to be checked, or null for a zombie. Called under the heap's lock, when this was taken off
     * the heap.
     */
    @Nullable RuntimeTimer take() {
        if (STATE.compareAndSet(this, LIVE, GONE)) {
            return timer;
        }
        if (!STATE.compareAndSet(this, ZOMBIE, GONE)) {
            return take(); // The timer has revived it between the two CASes.
        }
        return null;
    }

    /** Makes this alarm GONE if it is a zombie, and returns whether it was one. Called under the heap's lock. */
    boolean buried() {
        return state == ZOMBIE && STATE.compareAndSet(this, ZOMBIE, GONE);
    }

    /**
     * Makes a GONE alarm LIVE. The caller, the only thread that has the alarm, then puts it back into the heap. Called under the heap's
     * lock.
     */
    void comeBack(RuntimeTimer t) {
        timer = t;
        state = LIVE;
    }

    boolean live() {
        return state == LIVE;
    }
}
