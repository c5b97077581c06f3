// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.lang.invoke.MethodHandles;

import org.gmp4j.struct.HeapRef;
import org.jspecify.annotations.Nullable;

/**
 * An entry of a {@link TimerHeap} for a timer. (The other entries are sleeping goroutines.) When the alarm is due, at {@link #when}, a
 * thread takes it off the heap and then checks the timer.
 *
 * <pre>
 *  LIVE   to ZOMBIE   by the timer, under its lock: it no longer needs a check
 *  ZOMBIE to LIVE     by the timer, under its lock: it was set again, for {@code when} or a later time
 *  LIVE   to GONE     by the thread that takes the entry off the heap because it is due, and then checks the timer
 *  ZOMBIE to GONE     by a thread that removes the entry from the heap: because it is due, at the head, in a sweep, or in a move
 *  LIVE   to LIVE     by the thread that moves the entry to another heap
 *  GONE   to LIVE     by the thread that took the entry off, if it had no memory for the check; the timer no longer refers to the entry
 * </pre>
 *
 * A GONE alarm is in no heap. All these changes but the last are CASes, because the timer and the heap have different locks. The state
 * names the heap. So {@link #bury} counts the zombie in the heap that will remove the entry, even if the entry is being moved.
 */
final class Alarm {
    private static final HeapRef<Alarm, Object> STATE = HeapRef.of(MethodHandles.lookup(), Alarm.class, "state", Object.class);

    /** The key in the heap: the nanoTime at which the alarm is due. */
    final long when;
    /** The timer, which writes this field before it makes the alarm LIVE. Null in a zombie, so that a stopped timer is garbage at once. */
    private @Nullable RuntimeTimer timer;
    /** The {@link TimerHeap} that holds a LIVE alarm; the {@link Zombie} of the heap that holds a ZOMBIE; null when GONE. */
    private volatile @Nullable Object state;

    /** The state of all zombies in a heap. */
    record Zombie(TimerHeap heap) {
    }

    /** Makes an alarm that is in no heap. */
    Alarm(RuntimeTimer timer, long when) {
        this.timer = timer;
        this.when = when;
    }

    /** Makes a live alarm a zombie, because its timer no longer needs a check. Called under the timer's lock. */
    void bury() {
        while (state instanceof TimerHeap heap) { // If the CAS fails, the entry was moved, or it is GONE.
            if (STATE.compareAndSet(this, heap, heap.zombie)) {
                timer = null;
                int _ = heap.zombies.incrementAndGet();
                return;
            }
        }
    }

    /** Makes this alarm LIVE. Returns false if it is GONE already. Called under the lock of {@code t}, its timer. */
    boolean revive(RuntimeTimer t) {
        Object s = state;
        if (s instanceof Zombie zombie) {
            timer = t;
            if (STATE.compareAndSet(this, s, zombie.heap)) {
                zombie.heap.zombies.decrementAndGet();
                return true;
            }
            timer = null;
            return false;
        }
        return s != null; // If a thread makes a LIVE alarm GONE after this read, it checks the timer.
    }

    /** Makes this alarm LIVE in a heap. Called under the heap's lock, by the thread that puts a new alarm into it. */
    void enter(TimerHeap heap) {
        state = heap;
    }

    /**
     * Makes this alarm GONE. Returns the timer to be checked, or null for a zombie. Called under the heap's lock, after the entry was taken
     * off the heap.
     */
    @Nullable RuntimeTimer take() {
        return move(null) ? timer : null;
    }

    /**
     * Makes a LIVE alarm LIVE in another heap, or GONE if {@code to} is null, and a ZOMBIE GONE. Returns whether it was LIVE. Called by
     * the only thread that moves or removes the entry, under the lock of {@code to}, or of the heap that had the entry if that is null.
     */
    boolean move(@Nullable TimerHeap to) {
        for (;;) {
            Object s = state;
            boolean live = s instanceof TimerHeap;
            if (STATE.compareAndSet(this, s, live ? to : null)) { // Else the timer has made it a zombie, or has revived it.
                return live;
            }
        }
    }

    /** Makes this alarm GONE if it is a zombie, and returns whether it was one. Called under the heap's lock. */
    boolean buried() {
        Object s = state;
        return s instanceof Zombie && STATE.compareAndSet(this, s, null);
    }

    /** Makes a GONE alarm LIVE. Called under the heap's lock by the only thread that has the alarm, which then puts it into the heap. */
    void comeBack(RuntimeTimer t, TimerHeap heap) {
        timer = t;
        state = heap;
    }

    boolean live() {
        return state instanceof TimerHeap;
    }
}
