// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.ffi.gmp.p;
import org.gmp4j.proc.Processor;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;

/**
 * When the global queue is to have the next turn on a P. What is in the P's ring comes before that queue, and so does what the network
 * poller finds before the others in the queue; there may be enough of either to keep the P for good. Go takes from the queue in each 61st
 * slice ({@code FindRunnable.globalFirst}). That takes long where slices are long, and longer where goroutines go on with the slices of
 * those that woke them.
 */
final class GlobalTurn {
    /**
     * After so many time slices of others the global queue has the next: goroutines that need the CPU for long have a ninth of it then, if
     * others want all the rest. With one slice for one a service with short requests falls behind with these once there are long ones.
     */
    static final int PASSED_OVER = 8;
    /**
     * What sysmon's poll found waits in the queue only since the ring is never empty; an M's poll would have put it there. After one slice
     * it would overtake what has waited in the ring for longer: with slices of 0.2 ms p99 of
     * {@code gmp service --mix rare} was 2.9 times as long.
     */
    static final int POLLED_PASSED_OVER = 4;

    // Sysmon's own.
    private static final LongField GLOBALTICK = Mem.longField(p.layout(), "sysmontick", "globaltick");
    private static final LongField OTHERTICK = Mem.longField(p.layout(), "sysmontick", "othertick");
    private static final LongField GLOBALWHEN = Mem.longField(p.layout(), "sysmontick", "globalwhen");

    private GlobalTurn() {
    }

    /**
     * At each look at a P that runs, or is in a system call: says in {@code p.globaldue} whether it is the queue's turn.
     * {@code GlobalRunq} takes that back when the P has taken from there. It may do so between the look at the counters and the write
     * here: then the queue has one turn more.
     */
    static void look(long sched, Processor pr, long slice, long now) {
        long pp = pr.pp;
        int due = due(sched, passesOver(sched, pr, now), slice);
        if (due != P.GLOBALDUE.getOpaque(pp)) {
            P.GLOBALDUE.setOpaque(pp, due);
        }
    }

    private static int due(long sched, long passesOver, long slice) {
        if (passesOver >= PASSED_OVER * slice) {
            return GlobalRunq.DUE;
        }
        boolean polled = passesOver >= POLLED_PASSED_OVER * slice && Schedt.RUNQPOLLED.getOpaque(sched) != 0;
        return polled ? GlobalRunq.POLLED_DUE : GlobalRunq.NOT_DUE;
    }

    /**
     * For how long, in ns, the P has run others, and begun with none of the global queue, although there is something in it. Among the
     * others are those that the poller found, and those that it took from the queue ahead of their turn.
     */
    private static long passesOver(long sched, Processor pr, long now) {
        long pp = pr.pp;
        long ahead = pr.ahead;
        long taken = PStat.NGLOBAL.getOpaque(pp) - ahead;
        long others = PStat.NLOCAL.getOpaque(pp) + PStat.NPOLLED.getOpaque(pp) + ahead;
        if (taken != GLOBALTICK.get(pp) || Schedt.RUNQSIZE.getOpaque(sched) == 0) {
            GLOBALTICK.set(pp, taken);
            OTHERTICK.set(pp, others);
        }
        if (others == OTHERTICK.get(pp)) { // One that was taken from there may still run.
            GLOBALWHEN.set(pp, now);
            return 0;
        }
        return now - GLOBALWHEN.get(pp);
    }
}
