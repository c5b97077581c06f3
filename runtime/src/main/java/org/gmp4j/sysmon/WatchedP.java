// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Monitor;
import org.gmp4j.sched.base.Processor;

/**
 * Sysmon's record of a P. It has the latest request to release the P, with the counters by which sysmon detects the answer, and the first G
 * of the P's queue at the last scan. Only sysmon uses it.
 */
final class WatchedP implements Monitor.Watched {
    /** The M that was asked to release its P; 0 if no request is pending. */
    long mp;
    /** The P's schedtick and syscalltick, and the M's goroutine with its id, at the time of the request. */
    int tick;
    int calls;
    long gp;
    long goid;
    /** The nanoTime of the request. */
    long asked;
    /** Whether the thread ran at the time of the request; otherwise it slept in the kernel. */
    boolean running;
    /** The number of times that the M's signal handler had released a P before the request. */
    long handoffs;
    /** Identifies the first G of the P's queue at the last scan: -1 minus the head of the ring, or runnext if the ring is empty. */
    private long first;

    static WatchedP of(Processor pr) {
        return (WatchedP) pr.watched;
    }

    /**
     * Returns whether the first G of the P's queue has changed since the last scan. Sysmon calls it at each scan. While the ring has Gs,
     * changes of runnext do not count: a goroutine that keeps starting goroutines replaces the G in runnext each time.
     */
    boolean changed(long pp) {
        int head = Runq.head(pp);
        long now = Runq.tail(pp) == head ? Runq.runnext(pp) : ~Integer.toUnsignedLong(head);
        boolean changed = now != first;
        first = now;
        return changed;
    }
}
