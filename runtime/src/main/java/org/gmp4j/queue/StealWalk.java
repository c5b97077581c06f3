// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.policy.Steal;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;

/**
 * {@code stealWork}: a search through the other Ps, in walks whose order {@link Steal} decides. Each M has a StealWalk of its own, and only
 * that M calls it. A search allocates nothing.
 *
 * <p>Rejected: a sorted table of victims for each P, whose size grows with the square of the number of Ps.
 */
public abstract class StealWalk {
    /** A result of a walk: the search ends without a G. */
    private static final long END = -1;

    /** The id of the P from which the last successful search stole. */
    private int victim;
    /** The number of Gs that the last search stole. */
    private int stolen;
    /** Whether the caller has to start over, because the world is to stop or a timer ran. */
    private boolean newWork;
    private boolean ranTimer;
    private long tried;
    private int searches;

    /** Makes the walk of an M. */
    protected StealWalk() {
    }

    /** Returns the next pseudo-random number, of all ints. */
    protected abstract int cheaprand();

    /** Runs the due timers of a P. Returns whether there were any. */
    protected abstract boolean runTimers(long victim);

    /** Called for each P that the walk visits, for models of a walk's cost. A scheduler does nothing here. */
    protected void looks(int victim) {
        // A model counts.
    }

    /** Returns the id of the P from which the last successful search stole. */
    public final int victim() {
        return victim;
    }

    /** Returns the number of Gs that the last search stole. */
    public final int stolen() {
        return stolen;
    }

    /** Called after a search that found no G. Returns whether there may still be work, or the world is to stop. */
    public final boolean newWork() {
        return newWork;
    }

    /**
     * Searches for work for the P {@code pp}, which the caller holds and which has no work.
     *
     * @param politeNanos see {@link Runq#runqsteal}
     * @return a G, or 0 if there is none (see {@link #newWork}); other stolen Gs are in the P's ring
     */
    public final long steal(VictimOrder order, long sched, long pp, long politeNanos) {
        newWork = false;
        ranTimer = false;
        tried = 0;
        stolen = 0;
        boolean near = order.kind == StealOrder.NEAREST;
        int search = near ? ++searches : 0;
        boolean two = order.kind == StealOrder.TWO;
        long gp = 0;
        for (int i = 0; i < Steal.WALKS && gp == 0; i++) {
            boolean last = Steal.isLast(i);
            int walk = Steal.walk(near, two, search, i);
            if (walk == Steal.BY_DISTANCE) {
                gp = nearest(order, sched, pp, last, politeNanos);
            } else if (walk == Steal.OF_TWO) {
                gp = two(order.all.count(), sched, pp, politeNanos);
            } else {
                gp = uniform(order.all, sched, pp, last, politeNanos);
            }
        }
        P.NSTEALTRY.setOpaque(pp, P.NSTEALTRY.getOpaque(pp) + tried);
        PStat.NSTEALFAIL.addOpaque(pp, tried - (stolen == 0 ? 0 : 1));
        newWork |= gp == 0 && ranTimer;
        return gp == END ? 0 : gp;
    }

    private long uniform(RandomOrder order, long sched, long pp, boolean last, long politeNanos) {
        int seed = cheaprand();
        int step = order.step(seed);
        for (int k = order.count(), pos = order.start(seed); k > 0; k--, pos = order.next(pos, step)) {
            long gp = visit(sched, pp, pos, last, politeNanos);
            if (gp != 0) {
                return gp;
            }
        }
        return 0;
    }

    private long nearest(VictimOrder order, long sched, long pp, boolean last, long politeNanos) {
        int id = P.ID.get(pp);
        int seed = cheaprand();
        for (int d = 0; d < Places.DISTANCES; d++) {
            int size = order.size(id, d);
            if (size == 0) {
                continue;
            }
            RandomOrder some = order.some[size];
            int step = some.step(seed);
            for (int k = size, pos = some.start(seed); k > 0; k--, pos = some.next(pos, step)) {
                long gp = visit(sched, pp, order.at(id, d, pos), last, politeNanos);
                if (gp != 0) {
                    return gp;
                }
            }
        }
        return 0;
    }

    private long two(int procs, long sched, long pp, long politeNanos) {
        int first = any(procs);
        int second = any(procs);
        if (Runq.size(Idle.allp(sched, second)) > Runq.size(Idle.allp(sched, first))) {
            int t = first;
            first = second;
            second = t;
        }
        long gp = visit(sched, pp, first, false, politeNanos);
        return gp == 0 && second != first ? visit(sched, pp, second, false, politeNanos) : gp;
    }

    private int any(int procs) {
        return (int) ((cheaprand() & 0xFFFF_FFFFL) * procs >>> Integer.SIZE);
    }

    /** Visits one P. Returns a G, 0 to continue, or {@link #END}. */
    private long visit(long sched, long pp, int pos, boolean last, long politeNanos) {
        if (Schedt.GCWAITING.getAcquire(sched) != 0) {
            newWork = true;
            return END;
        }
        looks(pos);
        long p2 = Idle.allp(sched, pos);
        if (p2 == pp) {
            return 0;
        }
        if (last && Idle.maskRead(Schedt.TIMERPMASK.getAcquire(sched), pos) && runTimers(p2)) {
            long gp = Runq.runqget(pp); // A timer may have put a G into the caller's ring.
            if (gp != 0) {
                PStat.NLOCAL.addOpaque(pp, 1);
                return gp;
            }
            ranTimer = true;
        }
        if (!Idle.maskRead(Schedt.IDLEPMASK.getAcquire(sched), pos)) {
            tried++;
            int pushed = Runq.pushed(pp);
            long gp = Runq.runqsteal(pp, p2, last, politeNanos);
            if (gp != 0) {
                victim = pos;
                stolen = 1 + Runq.pushed(pp) - pushed;
                PStat.stole(pp, p2, stolen);
                return gp;
            }
        }
        return 0;
    }
}
