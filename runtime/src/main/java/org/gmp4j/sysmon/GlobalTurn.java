// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.policy.Turns;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;

/**
 * Measures how long a P has passed over {@code sched.runq}. {@link Turns} decides from this time whether the P is due to take a G from that
 * queue, and this class records the decision in {@code p.globaldue}.
 */
final class GlobalTurn {
    // Only sysmon uses these fields.
    /** The value of p.nglobal at the last scan that found it changed, or found the global queue empty. */
    private static final LongField GLOBALTICK = Struct.P.longField("sysmontick.globaltick");
    /** The number of other Gs that had run by that scan. */
    private static final LongField OTHERTICK = Struct.P.longField("sysmontick.othertick");
    /** The nanoTime of the last scan before another G ran; 0 before the first scan. */
    private static final LongField GLOBALWHEN = Struct.P.longField("sysmontick.globalwhen");

    private GlobalTurn() {
    }

    /**
     * Writes to {@code p.globaldue} whether the P's next G is to come from {@code sched.runq}. Sysmon calls it at each scan of a P that
     * runs or is in a system call. A P that was idle may be due at once when it runs again, which costs it one G of that queue.
     * {@code GlobalRunq} resets the field when the P has taken a G from there. If that happens between the
     * read of the counters and this write, the P takes one more G of the queue.
     *
     * @param slice the length of a time slice on this P, ns
     */
    static void look(long sched, long pp, long slice, long now) {
        int due = Turns.due(passedOver(sched, pp, now), slice);
        if (due != P.GLOBALDUE.getOpaque(pp)) {
            P.GLOBALDUE.setOpaque(pp, due);
        }
    }

    /** Returns the time, ns, for which the P has taken no G from {@code sched.runq}, while the global queue had Gs and the P ran others. */
    private static long passedOver(long sched, long pp, long now) {
        long taken = PStat.NGLOBAL.getOpaque(pp);
        long others = PStat.NLOCAL.getOpaque(pp) + PStat.NPOLLED.getOpaque(pp) + PStat.NARRIVED.getOpaque(pp);
        if (taken != GLOBALTICK.get(pp) || Schedt.RUNQSIZE.getOpaque(sched) == 0) {
            GLOBALTICK.set(pp, taken);
            OTHERTICK.set(pp, others);
        }
        if (others == OTHERTICK.get(pp) || GLOBALWHEN.get(pp) == 0) { // The G that was taken from the queue may still run.
            GLOBALWHEN.set(pp, now);
            return 0;
        }
        return now - GLOBALWHEN.get(pp);
    }
}
