// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import java.lang.invoke.MethodHandles;

import org.gmp4j.struct.G;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.Sudog;

/**
 * A FIFO of sudogs ({@code waitq}), guarded by the lock of the object on which they wait.
 *
 * <p>A select has a sudog in a queue of each of its channels. The wakers that compete for it hold the locks of different channels, so they
 * race. The waker that moves {@code selectDone} from 0 to 1 wins the select, and the others take the next waiter. When the select runs
 * again, it takes the locks of all its channels. Then no waker can find its other sudogs. The select sets {@code selectDone} to 0 and takes
 * these sudogs out.
 */
public final class WaitQ {
    private static final HeapLong<WaitQ> FIRST = HeapLong.of(MethodHandles.lookup(), WaitQ.class, "first");

    private long first;
    private long last;

    /** Makes an empty queue. */
    public WaitQ() {
    }

    /** Returns whether the queue is empty. Called under the lock. */
    public boolean isEmpty() {
        return first == 0;
    }

    /** Returns whether the queue is empty. Called without the lock. The queue may hold sudogs of selects that were won. */
    public boolean isEmptyVolatile() {
        return FIRST.getVolatile(this) == 0;
    }

    /** Returns the sudog that has waited longest; 0 when there is none. */
    public long first() {
        return first;
    }

    /** Puts a waiter at the end. */
    public void enqueue(long sg) {
        Sudog.NEXT.set(sg, 0);
        Sudog.PREV.set(sg, last);
        if (last == 0) {
            first = sg;
        } else {
            Sudog.NEXT.set(last, sg);
        }
        last = sg;
    }

    /** Takes the sudog that has waited longest. Skips sudogs of selects that other wakers have won. Returns 0 when there is none. */
    public long dequeue() {
        for (;;) {
            long sg = first;
            if (sg == 0) {
                return 0;
            }
            first = Sudog.NEXT.get(sg);
            if (first == 0) {
                last = 0;
            } else {
                Sudog.PREV.set(first, 0);
            }
            Sudog.NEXT.set(sg, 0); // Together with prev 0 this marks a sudog that is in no queue: see remove.
            int select = Sudog.ISSELECT.get(sg);
            if (select == 0 || win(sg, select)) {
                return sg;
            }
        }
    }

    /** Tries to win the select of a sudog that is in no queue. If it returns true, the caller has to wake the select. */
    public static boolean win(long sg) {
        return win(sg, Sudog.ISSELECT.get(sg));
    }

    private static boolean win(long sg, int select) {
        long who = Sudog.G.get(sg);
        return select == Sudog.SELECT ? G.SELECTDONE.compareAndSet(who, 0, 1) : Sudog.TICKET.compareAndSet(who, 0, 1);
    }

    /** {@code dequeueSudoG}: takes this sudog out, at any position, in constant time. Returns false if it is out already. */
    public boolean remove(long sg) {
        long before = Sudog.PREV.get(sg);
        long after = Sudog.NEXT.get(sg);
        if (before == 0 && first != sg) {
            return false; // A waker has taken it out.
        }
        if (before == 0) {
            first = after;
        } else {
            Sudog.NEXT.set(before, after);
        }
        if (after == 0) {
            last = before;
        } else {
            Sudog.PREV.set(after, before);
        }
        Sudog.NEXT.set(sg, 0);
        Sudog.PREV.set(sg, 0);
        return true;
    }
}
