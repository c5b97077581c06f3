// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.NodeQueues;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * One pass of {@link Invariants}: the violations that it found, and the checks that apply both in a stopped and in a running world. The
 * subclasses choose the structs to check.
 */
abstract class InvariantChecks {
    final Scheduler s;
    final long sched;
    /** The violations of invariants that hold at every moment. */
    final Set<String> broken = new LinkedHashSet<>();
    /** The violations that count only if every pass finds them. */
    final Set<String> doubtful = new LinkedHashSet<>();
    /** The place in which each G was found. */
    final Map<Long, String> place = new HashMap<>();

    InvariantChecks(Scheduler s) {
        this.s = s;
        this.sched = s.sched;
    }

    abstract void run();

    void require(boolean holds, String invariant, String what, long... args) {
        note(broken, holds, invariant, what, args);
    }

    void expect(boolean holds, String invariant, String what, long... args) {
        note(doubtful, holds, invariant, what, args);
    }

    private static void note(Set<String> to, boolean holds, String invariant, String what, long... args) {
        if (!holds) {
            Object[] boxed = new Object[args.length];
            for (int i = 0; i < args.length; i++) {
                boxed[i] = args[i];
            }
            to.add(invariant + ": " + what.formatted(boxed));
        }
    }

    void locked(Runnable body) {
        SchedLock.lock(sched);
        try {
            body.run();
        } finally {
            SchedLock.unlock(sched);
        }
    }

    // The following methods are called under sched.lock.

    void lists() {
        globalQueue();
        Set<Long> idleMs = new HashSet<>();
        for (long mp = Schedt.MIDLE.get(sched); mp != 0 && idleMs.add(mp); mp = M.SCHEDLINK.get(mp)) {
            require(M.P.getOpaque(mp) == 0 && M.CURG.getOpaque(mp) == 0, "M1", "M%d is idle and has a P or a goroutine", M.ID.get(mp));
            require(M.SPINNING.getOpaque(mp) == 0, "M2", "M%d is idle and spins", M.ID.get(mp));
        }
        require(idleMs.size() == Schedt.NMIDLE.getOpaque(sched), "M1", "nmidle is %d, the list has %d",
                Schedt.NMIDLE.getOpaque(sched), idleMs.size());
        Set<Long> idlePs = new HashSet<>();
        for (long pp = Schedt.PIDLE.get(sched); pp != 0 && idlePs.add(pp); pp = P.LINK.get(pp)) {
            int status = PStatus.get(pp);
            require(status == PStatus.PIDLE, status == PStatus.PSYSCALL ? "P3" : "P2", "P%d is in pidle in state %d",
                    P.ID.get(pp), status);
            require(P.M.getOpaque(pp) == 0, "P2", "P%d is idle and has an M", P.ID.get(pp));
            require(Runq.runqempty(pp), "P2", "P%d is idle and has work", P.ID.get(pp));
        }
        require(idlePs.size() == Schedt.NPIDLE.getVolatile(sched), "P2", "npidle is %d, the list has %d",
                Schedt.NPIDLE.getVolatile(sched), idlePs.size());
        for (Processor pr : s.procs()) {
            require(Idle.maskRead(Schedt.IDLEPMASK.getAcquire(sched), P.ID.get(pr.pp)) == idlePs.contains(pr.pp), "P6",
                    "P%d is in only one of idlepMask and pidle", P.ID.get(pr.pp));
        }
        long spinners = Schedt.NMSPINNING.getVolatile(sched);
        int spinning = Schedt.spinning(spinners);
        int onTheirWay = Schedt.onTheirWay(spinners);
        int procs = Schedt.GOMAXPROCS.getOpaque(sched);
        require(onTheirWay >= 0 && spinning >= onTheirWay && spinning - onTheirWay <= Math.max(1, procs / 2), "M7",
                "nmspinning is %d, %d of them on their way, with %d Ps", spinning, onTheirWay, procs);
    }

    private void globalQueue() {
        int size = Schedt.RUNQSIZE.getOpaque(sched);
        Set<Long> seen = new HashSet<>();
        int n = list("sched.arrived", GlobalRunq.arrived(sched), seen) + list("sched.runq", GlobalRunq.common(sched), seen);
        long nodeq = Schedt.NODEQ.get(sched);
        for (int i = 1; i <= NodeQueues.lists(nodeq); i++) {
            n += list("the list of a node", NodeQueues.list(nodeq, i), seen);
        }
        long ahead = Schedt.LASTAHEAD.get(sched);
        require(ahead == 0 || "sched.arrived".equals(place.get(ahead)), "R7", "the last that is ahead in sched.arrived is not there");
        require(n == size, "R6", "runqsize is %d, the list has %d", size, n);
    }

    /** Checks a list of the global queue, and returns the number of its Gs. */
    private int list(String name, long list, Set<Long> seen) {
        int n = 0;
        long last = 0;
        for (long gp = GlobalRunq.head(list); gp != 0 && seen.add(gp); gp = G.SCHEDLINK.get(gp)) {
            require(status(gp) == GStatus.GRUNNABLE, "R7", "goroutine %d is in " + name + " in state %d", G.GOID.get(gp),
                    status(gp));
            require(G.M.getOpaque(gp) == 0, "R7", "goroutine %d is in " + name + " and on an M", G.GOID.get(gp));
            String other = place.put(gp, name);
            require(other == null, "G3", "goroutine %d is in " + name + " and in " + other, G.GOID.get(gp));
            last = gp;
            n++;
        }
        require(last == GlobalRunq.tail(list), "R7", "the last in " + name + " is not its tail");
        return n;
    }

    // Each of the following methods checks one struct.

    void deadP(long pp) {
        long id = P.ID.get(pp);
        require(PStatus.get(pp) == PStatus.PDEAD, "P5", "P%d is beyond gomaxprocs and not dead", id);
        require(Runq.runqempty(pp) && P.GFREE.get(pp) == 0 && P.SUDOGN.get(pp) == 0 && P.TIMERSLEN.getOpaque(pp) == 0,
                "P5", "P%d is dead and not drained", id);
    }

    /** Checks an M, whether the world is stopped or not. */
    void anyM(long mp) {
        long id = M.ID.get(mp);
        if (M.INCGO.getOpaque(mp) != 0) {
            long gp = M.CURG.getOpaque(mp);
            expect(M.P.getOpaque(mp) == 0, "M5", "M%d is in a native call and has a P", id);
            expect(gp != 0 && status(gp) == GStatus.GSYSCALL, "M5",
                    "M%d is in a native call and its goroutine in no system call", id);
        }
        long lockedg = M.LOCKEDG.getOpaque(mp);
        expect(lockedg == 0 || G.LOCKEDM.getOpaque(lockedg) == mp, "M6", "M%d is locked to a G that is not locked to it", id);
    }

    /** Checks M4. */
    void inSyscall(long gp) {
        long mp = G.M.getOpaque(gp);
        expect(mp != 0 && M.CURG.getOpaque(mp) == gp && M.P.getOpaque(mp) == 0 || status(gp) != GStatus.GSYSCALL, "M4",
                "goroutine %d is in a system call and its M has a P", G.GOID.get(gp));
    }

    /** Checks M6 for a goroutine. */
    void lockedToItsM(long gp, int status) {
        long lockedm = G.LOCKEDM.getOpaque(gp);
        if (lockedm == 0) {
            return;
        }
        expect(M.LOCKEDG.getOpaque(lockedm) == gp || G.LOCKEDM.getOpaque(gp) != lockedm, "M6",
                "goroutine %d is locked to an M that is not locked to it", G.GOID.get(gp));
        boolean on = status == GStatus.GRUNNING || status == GStatus.GSYSCALL;
        expect(!on || G.M.getOpaque(gp) == lockedm || status(gp) != status || G.LOCKEDM.getOpaque(gp) != lockedm, "M6",
                "goroutine %d is locked to an M and runs on another", G.GOID.get(gp));
    }

    static boolean legal(int status) {
        return switch (status) {
            case GStatus.GRUNNABLE, GStatus.GRUNNING, GStatus.GSYSCALL, GStatus.GWAITING, GStatus.GDEAD,
                    GStatus.GPREEMPTED -> true;
            default -> false;
        };
    }

    /** Checks G2 for a goroutine whose state does not change during the check. */
    void triangle(long gp) {
        long mp = G.M.getOpaque(gp);
        require(status(gp) == GStatus.GRUNNING && mp != 0 && M.CURG.getOpaque(mp) == gp && M.P.getOpaque(mp) != 0
                && P.M.getOpaque(M.P.getOpaque(mp)) == mp, "G2", "goroutine %d runs and its triangle with M and P is broken",
                G.GOID.get(gp));
    }

    static int status(long gp) {
        return GStatus.readgstatus(gp) & ~GStatus.GSCAN;
    }
}
