// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * {@code gcount}: the number of living goroutines. Each P has two counters, which only its owner writes: one for the goroutines that were
 * started on it, and one for the goroutines that ended on it. {@link #gcount} first reads all counts of ends, and then all counts of
 * starts. A goroutine whose end is counted was started earlier, so its start is counted, too. Hence the difference is never less than the
 * number of goroutines that lived between the two passes. If it is 0, no goroutine lived then. The close of a scheduler relies on that.
 */
public final class Gcount {
    private Gcount() {
    }

    /**
     * Returns the number of living goroutines. It is exact if no goroutine is started or ends during the call. Otherwise it is at least the
     * number that lived between the two passes.
     */
    public static long gcount(Scheduler s) {
        long n = -Schedt.NEXITEXTERN.getAcquire(s.sched);
        Processor[] all = s.procs();
        for (Processor pr : all) {
            n -= P.NEXIT.getAcquire(pr.pp);
        }
        all = s.procs(); // Read again, because a goroutine whose end was counted may have started on a new P.
        n += Schedt.NSPAWNEXTERN.getAcquire(s.sched);
        for (Processor pr : all) {
            n += P.NSPAWN.getAcquire(pr.pp);
        }
        return n;
    }
}
