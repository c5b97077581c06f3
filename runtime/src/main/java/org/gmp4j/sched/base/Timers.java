// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.stack.Stack;
import org.gmp4j.stack.Timeout;

/** The loop's interface to the timers. {@code p.timer0When} is the next due time of a P. */
public interface Timers {
    /** Makes the timer heaps of new Ps, which have consecutive ids and are not in use yet. If there is no memory it throws. */
    void added(long[] pps);

    /**
     * Allocates the memory that {@link #move} will need. Called in a stopped world. If there is no memory it throws.
     *
     * @param before the number of timers of other Ps that will be moved to {@code to} before the timers of {@code from}
     */
    void prepareMove(long from, long to, int before);

    /** Runs the due timers of {@code pp} on an M that holds {@code mine} (this P or another). Returns whether there were any. */
    boolean check(long mine, long pp);

    /** Returns when the next timer of {@code pp} that is not stopped is due; 0 for none. Called by an M that is about to sleep. */
    long next(long pp);

    /** Returns whether a timer of {@code pp} may ready a goroutine, or is doing so. Takes the timers' lock. */
    boolean pending(long pp);

    /** Makes a timer that limits a stack's waits in the JDK, one wait at a time. It runs on the P of the stack's M. */
    Timeout timeout(Stack st);

    /** Moves all timers of a P that dies to a living P, in a stopped world. {@code to} is 0 when the scheduler has ended. */
    void move(long from, long to);
}
