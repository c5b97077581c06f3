package org.gmp4j.queue;

import org.gmp4j.struct.Sudog;

/** A FIFO of sudogs ({@code waitq}), under the lock of what they wait for. */
public final class WaitQ {
    private long first;
    private long last;

    /** An empty queue. */
    public WaitQ() {
    }

    /** Whether nobody waits. */
    public boolean isEmpty() {
        return first == 0;
    }

    /** The one that waits longest; 0 when nobody does. */
    public long first() {
        return first;
    }

    /** Puts a waiter at the end. */
    public void enqueue(long sg) {
        Sudog.setNext(sg, 0);
        Sudog.setPrev(sg, last);
        if (last == 0) {
            first = sg;
        } else {
            Sudog.setNext(last, sg);
        }
        last = sg;
    }

    /** Takes the one that waits longest; 0 when nobody does. */
    public long dequeue() {
        long sg = first;
        if (sg != 0) {
            first = Sudog.next(sg);
            if (first == 0) {
                last = 0;
            } else {
                Sudog.setPrev(first, 0);
            }
            Sudog.setNext(sg, 0);
        }
        return sg;
    }
}
