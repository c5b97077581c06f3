// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.struct.FieldHandle;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a {@link TimerHeap} other than a sleeping goroutine: at {@link #when} the thread that takes it looks at a timer.
 *
 * <pre>
 *  LIVE   to ZOMBIE   the timer, under its lock: no look is needed any more
 *  ZOMBIE to LIVE     the timer, under its lock: set again, not before this entry's time
 *  LIVE   to GONE     whoever takes it off the heap because it is due, and looks at the timer next
 *  ZOMBIE to GONE     whoever finds it in the heap: due, at the head, or one of too many
 *  GONE   to LIVE     whoever took it off and could not look for want of memory: the timer no longer knows of it
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
    /** Where it is; written at the push, and by a move with the world stopped. The timer reads it only to count a zombie. */
    @SuppressWarnings("NullAway.Init")
    volatile TimerHeap heap;
    /** Null in a zombie, so that a stopped timer is garbage at once. Written by the timer before it makes it LIVE. */
    private @Nullable RuntimeTimer timer;
    private volatile int state;

    Alarm(RuntimeTimer timer, long when) {
        this.timer = timer;
        this.when = when;
    }

    /** Under the timer's lock: no look is needed any more. */
    void bury() {
        if (STATE.compareAndSet(this, LIVE, ZOMBIE)) {
            timer = null;
            int _ = heap.zombies.incrementAndGet();
        }
    }

    /** Under the lock of {@code t}: makes this LIVE again; false if it is no longer in its heap. */
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
        return s == LIVE; // A CAS to GONE may follow at once: whoever does that looks.
    }

    /** Under the heap's lock, taken off it: the timer to look at, null for a zombie. */
    @Nullable RuntimeTimer take() {
        if (STATE.compareAndSet(this, LIVE, GONE)) {
            return timer;
        }
        if (!STATE.compareAndSet(this, ZOMBIE, GONE)) {
            return take(); // It was revived between the two CASes.
        }
        return null;
    }

    /** Under the heap's lock: whether this was a zombie, and is gone now. */
    boolean buried() {
        return state == ZOMBIE && STATE.compareAndSet(this, ZOMBIE, GONE);
    }

    /** Under the heap's lock, GONE, and only the caller has it: it goes back into the heap, at any place. */
    void comeBack(RuntimeTimer t) {
        timer = t;
        state = LIVE;
    }

    boolean live() {
        return state == LIVE;
    }
}
