// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.struct.G;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * The lists of dead Gs for reuse. Each P has a list of fewer than 64 dead Gs, which needs no lock. The other dead Gs are on the common list
 * {@code sched.gfree}, which {@code sched.lock} guards.
 */
public final class GFree {
    private static final int LOCAL = 64;
    private static final int HALF = LOCAL / 2;

    private GFree() {
    }

    /**
     * Puts a dead G on the P's list. When the list has 64 Gs, half of them are moved to the common list. Called by the P's owner, without
     * the lock.
     */
    public static void gfput(long sched, long pp, long gp) {
        G.SCHEDLINK.set(gp, P.GFREE.get(pp));
        P.GFREE.set(pp, gp);
        int n = P.GFREEN.get(pp) + 1;
        P.GFREEN.set(pp, n);
        if (n >= LOCAL) {
            drain(sched, pp);
        }
    }

    private static void drain(long sched, long pp) {
        SchedLock.lock(sched);
        for (int i = 0; i < HALF; i++) {
            putGlobal(sched, take(pp));
        }
        SchedLock.unlock(sched);
    }

    /** Moves all of a P's free Gs to the common list. Called in a stopped world, under the lock. */
    public static void gfpurge(long sched, long pp) {
        while (P.GFREE.get(pp) != 0) {
            putGlobal(sched, take(pp));
        }
    }

    /** Takes a dead G from the P's list or the common list. Returns 0 when both are empty. Called by the P's owner, without the lock. */
    public static long gfget(long sched, long pp) {
        if (P.GFREE.get(pp) == 0) {
            if (Schedt.GFREECOUNT.getOpaque(sched) == 0) {
                return 0;
            }
            SchedLock.lock(sched);
            for (int i = 0; i < HALF; i++) {
                long gp = getGlobal(sched);
                if (gp == 0) {
                    break;
                }
                G.SCHEDLINK.set(gp, P.GFREE.get(pp));
                P.GFREE.set(pp, gp);
                P.GFREEN.set(pp, P.GFREEN.get(pp) + 1);
            }
            SchedLock.unlock(sched);
            if (P.GFREE.get(pp) == 0) {
                return 0;
            }
        }
        return take(pp);
    }

    private static long take(long pp) {
        long gp = P.GFREE.get(pp);
        P.GFREE.set(pp, G.SCHEDLINK.get(gp));
        P.GFREEN.set(pp, P.GFREEN.get(pp) - 1);
        G.SCHEDLINK.set(gp, 0);
        return gp;
    }

    /** Takes a dead G from the common list. Returns 0 when it is empty. Called under the lock. */
    public static long getGlobal(long sched) {
        long gp = Schedt.GFREE.get(sched);
        if (gp != 0) {
            Schedt.GFREE.set(sched, G.SCHEDLINK.get(gp));
            Schedt.GFREECOUNT.setOpaque(sched, Schedt.GFREECOUNT.getOpaque(sched) - 1);
            G.SCHEDLINK.set(gp, 0);
        }
        return gp;
    }

    /** Puts a dead G on the common list. Called under the lock. */
    public static void putGlobal(long sched, long gp) {
        G.SCHEDLINK.set(gp, Schedt.GFREE.get(sched));
        Schedt.GFREE.set(sched, gp);
        Schedt.GFREECOUNT.setOpaque(sched, Schedt.GFREECOUNT.getOpaque(sched) + 1);
    }
}
