// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.proc.Monitor;
import org.gmp4j.proc.Processor;
import org.gmp4j.queue.Runq;

/**
 * What sysmon knows of a P: its latest request to hand it off, until it is answered (what was asked, and what shows the answer), and what
 * waited for the P at the last look.
 */
final class Request implements Monitor.Watched {
    /** The M that was asked; 0 for none. */
    long mp;
    /** The time slice, how many calls there had been, and the goroutine. */
    int tick;
    int calls;
    long gp;
    long goid;
    /** When, by nanoTime. */
    long asked;
    /** Whether it ran; else it slept in the kernel. */
    boolean running;
    /** How often the M's handler had given a P up before. */
    long handoffs;
    /** What was first in its queue at the last look: minus the place in the ring, less 1, or else runnext. */
    private long first;

    static Request of(Processor pr) {
        return (Request) pr.watched;
    }

    /**
     * At each look: whether another is first in its queue than at the last. Not whether its runnext is another, while the ring has
     * Gs: who makes goroutines all the time puts each there, and those before it into the ring.
     */
    boolean changed(long pp) {
        int head = Runq.head(pp);
        long now = Runq.tail(pp) == head ? Runq.runnext(pp) : ~Integer.toUnsignedLong(head);
        boolean changed = now != first;
        first = now;
        return changed;
    }
}
