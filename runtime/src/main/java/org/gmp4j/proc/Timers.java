// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.stack.Stack;
import org.gmp4j.stack.Timeout;

/** What the loop needs of the timers, which are in a package above. The next due time of a P is {@code p.timer0When}. */
public interface Timers {
    /** Ps were made, with consecutive ids; none is in use yet. Throws for want of memory. */
    void added(long[] pps);

    /**
     * Takes the memory that {@link #move} will need; the world is stopped. Throws for want of it.
     *
     * @param before how many timers of other Ps will have been moved there before
     */
    void prepareMove(long from, long to, int before);

    /** Runs the due timers of {@code pp} on an M that holds {@code mine} (this P or another). True if there were any. */
    boolean check(long mine, long pp);

    /** When the next timer of {@code pp} is due that was not stopped, 0 for none: for an M about to sleep. */
    long next(long pp);

    /** Whether a timer of {@code pp} may ready a goroutine, or is doing so. Takes the timers' lock. */
    boolean pending(long pp);

    /** The limits of time of a stack's waits in the JDK, one after the other: timers of the P that its M has. */
    Timeout timeout(Stack st);

    /** Moves all timers of a P that is to die to one that lives; the world is stopped. With 0 for that, the scheduler has ended. */
    void move(long from, long to);
}
