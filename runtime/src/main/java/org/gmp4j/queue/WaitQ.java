// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Sudog;

/**
 * A FIFO of sudogs ({@code waitq}), under the lock of what they wait for.
 *
 * <p>A select has a sudog in a queue of each of its channels. The wakers that compete for it hold one channel's lock each, not
 * the same one, so they race: whoever moves {@code selectDone} from 0 to 1 has it, and the others go on to the next
 * waiter. The select itself sets the word back to 0 when it has run on, holds the locks of all its channels again, and is
 * about to take its other sudogs out: nobody can find one of them meanwhile.
 */
public final class WaitQ {
    private static final VarHandle FIRST = FieldHandle.of(MethodHandles.lookup(), WaitQ.class, "first", long.class);

    private long first;
    private long last;

    /** An empty queue. */
    public WaitQ() {
    }

    /** Whether nobody waits. */
    public boolean isEmpty() {
        return first == 0;
    }

    /** The same for a caller that does not hold the lock; a select that has been won already may count as waiting. */
    public boolean isEmptyVolatile() {
        return (long) FIRST.getVolatile(this) == 0;
    }

    /** The one that waits longest; 0 when nobody does. */
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

    /** Takes the one that waits longest, selects that others have won left out; 0 when nobody does. */
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
            Sudog.NEXT.set(sg, 0); // With prev 0 it is in no queue: see remove.
            int select = Sudog.ISSELECT.get(sg);
            if (select == 0 || win(sg, select)) {
                return sg;
            }
        }
    }

    /** For a sudog of a select that is in no queue: tries to win the select. If true, the caller is to wake it. */
    public static boolean win(long sg) {
        return win(sg, Sudog.ISSELECT.get(sg));
    }

    private static boolean win(long sg, int select) {
        long who = Sudog.G.get(sg);
        return select == Sudog.SELECT ? G.SELECTDONE.compareAndSet(who, 0, 1) : Sudog.TICKET.compareAndSet(who, 0, 1);
    }

    /** {@code dequeueSudoG}: takes this one out from wherever it stands, in constant time; false if it is out already. */
    public boolean remove(long sg) {
        long before = Sudog.PREV.get(sg);
        long after = Sudog.NEXT.get(sg);
        if (before == 0 && first != sg) {
            return false; // A waker took it out and then did not get the select.
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
