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
 * Decides when a P takes the next G from the global queue. Gs in the P's ring come before that queue, and Gs that the network poller finds
 * come before the other Gs in it. Either kind may be numerous enough to occupy the P for good. Go takes from the global queue in each 61st
 * slice ({@code FindRunnable.globalFirst}). That is too rare where slices are long, and rarer still where a goroutine inherits the slice of
 * the one that readied it.
 */
final class GlobalTurn {
    /**
     * After so many time slices of other Gs the next one is the global queue's. Goroutines that need the CPU for long then have a ninth of
     * it, if others want the rest. With one slice for one, short requests starve as soon as there are long ones.
     */
    static final int PASSED_OVER = 8;
    /**
     * After so many time slices of other Gs a G comes from the global queue that sysmon's network poll has put there. It is in that queue
     * only because the ring is never empty: an M's poll would have put it into the ring. After only one slice it would overtake Gs that
     * have waited in the ring for longer.
     */
    static final int POLLED_PASSED_OVER = 4;

    // Only sysmon reads and writes these fields: p.nglobal and the number of other Gs run, when the queue last had its turn or was empty,
    // and the nanoTime of the last scan before another G ran.
    private static final LongField GLOBALTICK = Mem.longField(p.layout(), "sysmontick", "globaltick");
    private static final LongField OTHERTICK = Mem.longField(p.layout(), "sysmontick", "othertick");
    private static final LongField GLOBALWHEN = Mem.longField(p.layout(), "sysmontick", "globalwhen");

    private GlobalTurn() {
    }

    /**
     * Writes to {@code p.globaldue} whether the P's next G is to come from the global queue. Sysmon calls it at each scan of a P that runs
     * or is in a system call. {@code GlobalRunq} resets the field when the P has taken a G from there. If that happens between the read of
     * the counters and the write here, the queue has one turn more.
     *
     * @param slice the length of a time slice on this P, ns
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
     * Returns for how long, in ns, the P has taken no G from the global queue in its turn, while there were Gs in it and the P ran others.
     * Gs that the P's poll found, and Gs that it took from the queue ahead of their turn, count as others.
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
        if (others == OTHERTICK.get(pp)) { // The G that was taken from the queue may still run.
            GLOBALWHEN.set(pp, now);
            return 0;
        }
        return now - GLOBALWHEN.get(pp);
    }
}
