// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import org.gmp4j.agent.OnDemand;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.print.Stderr;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.WaitReason;

/** Prints the state of the scheduler on stderr, in lines like Go's, for {@code GMPDEBUG=schedtrace=N,scheddetail=1}. */
public final class SchedTrace {
    /** Stands for the frames, which are not read under sched.lock or at a fatal error. */
    private static final StackTraceElement[] NO_FRAMES = {};

    private SchedTrace() {
    }

    public static void print(Scheduler s, long sinceStart) {
        Stderr.print(text(s, sinceStart, s.config.debug().scheddetail()));
    }

    /** Returns the lines. The lists are consistent, because this holds sched.lock, but Ps and Gs may change while they are read. */
    public static String text(Scheduler s, long sinceStart, boolean detail) {
        long sched = s.sched;
        SchedLock.lock(sched);
        try {
            return lines(s, sinceStart, detail, false);
        } finally {
            SchedLock.unlock(sched);
        }
    }

    /** Returns the detailed lines for a dump. Takes no lock, because the thread that reports a throw may hold it. */
    static String dump(Scheduler s) {
        return lines(s, 0, true, true);
    }

    private static String lines(Scheduler s, long sinceStart, boolean detail, boolean names) {
        long sched = s.sched;
        StringBuilder b = new StringBuilder();
        int procs = Schedt.GOMAXPROCS.getOpaque(sched);
        b.append("SCHED ").append(sinceStart / 1_000_000).append("ms: gomaxprocs=").append(procs)
                .append(" idleprocs=").append(Schedt.NPIDLE.getVolatile(sched))
                .append(" threads=").append(Schedt.MNEXT.get(sched) - Schedt.NMFREED.get(sched))
                .append(" spinningthreads=").append(Schedt.nmspinningVolatile(sched))
                .append(" needspinning=").append(Schedt.NEEDSPINNING.getVolatile(sched))
                .append(" idlethreads=").append(Schedt.NMIDLE.getOpaque(sched))
                .append(" runqueue=").append(Schedt.RUNQSIZE.getOpaque(sched));
        Processor[] all = s.procs();
        if (!detail) {
            b.append(" [");
            for (int i = 0; i < procs; i++) {
                b.append(' ').append(Runq.size(all[i].pp) + (Runq.runnext(all[i].pp) == 0 ? 0 : 1));
            }
            b.append(" ] schedticks=[");
            for (int i = 0; i < procs; i++) {
                b.append(' ').append(P.SCHEDTICK.getOpaque(all[i].pp));
            }
            b.append(" ]");
        } else {
            b.append(" gcwaiting=").append(Schedt.GCWAITING.getAcquire(sched) != 0)
                    .append(" nmidlelocked=").append(Schedt.NMIDLELOCKED.get(sched))
                    .append(" stopwait=").append(Schedt.STOPWAIT.get(sched))
                    .append(" sysmonwait=").append(Schedt.SYSMONWAIT.get(sched) != 0);
        }
        b.append(" strays=").append(strays(s));
        points(b);
        b.append('\n');
        if (detail) {
            detail(s, b, all, names);
        }
        return b.toString();
    }

    /** @param names whether states are printed as names instead of Go's numbers */
    private static void detail(Scheduler s, StringBuilder b, Processor[] all, boolean names) {
        for (Processor pr : all) {
            long pp = pr.pp;
            b.append("  P").append(P.ID.get(pp)).append(": status=")
                    .append(names ? PStatus.name(PStatus.get(pp)) : "" + PStatus.get(pp))
                    .append(" schedtick=").append(P.SCHEDTICK.getOpaque(pp))
                    .append(" syscalltick=").append(P.SYSCALLTICK.getOpaque(pp)).append(" m=").append(m(P.M.getOpaque(pp)))
                    .append(" runqsize=").append(Runq.size(pp)).append(" gfreecnt=").append(P.GFREEN.getOpaque(pp))
                    .append(" timerslen=").append(P.TIMERSLEN.getOpaque(pp)).append('\n');
        }
        for (Machine mach : s.machines()) {
            long mp = mach.mp;
            long pp = M.P.getOpaque(mp);
            b.append("  M").append(M.ID.get(mp)).append(": p=").append(pp == 0 ? "nil" : "" + P.ID.get(pp))
                    .append(" curg=").append(g(M.CURG.getOpaque(mp)))
                    .append(" mallocing=0 throwing=0 preemptoff= locks=").append(M.LOCKS.getOpaque(mp)).append(" dying=0")
                    .append(" spinning=").append(M.SPINNING.getOpaque(mp) != 0)
                    .append(" blocked=").append(M.BLOCKED.getOpaque(mp) != 0).append(" lockedg=")
                    .append(g(M.LOCKEDG.getOpaque(mp))).append('\n');
        }
        States states = new States(s);
        s.slots.forEach(gp -> {
            int st = GStatus.readgstatus(gp);
            if (st != GStatus.GDEAD) {
                String reason = st == GStatus.GWAITING ? states.of(gp, st, GStack.of(s, gp), NO_FRAMES)
                        : WaitReason.of(G.WAITREASON.getOpaque(gp)).text();
                b.append("  G").append(G.GOID.get(gp)).append(": status=").append(names ? GStatus.name(st) : "" + st).append('(')
                        .append(reason).append(") m=").append(m(G.M.getOpaque(gp)))
                        .append(" lockedm=").append(m(G.LOCKEDM.get(gp))).append('\n');
            }
        });
    }

    /**
     * If preemption points are added on demand, appends the number of classes that got points, and the number and total time of the pauses
     * of all threads.
     */
    private static void points(StringBuilder b) {
        if (OnDemand.get() != null) {
            OnDemand.Counts c = OnDemand.counts();
            b.append(" pointclasses=").append(c.classes()).append(" pauses=").append(c.pauses()).append(" pausems=")
                    .append(c.nanos() / 1_000_000);
        }
    }

    /** Returns the number of goroutines that run without a P. */
    private static int strays(Scheduler s) {
        int n = 0;
        for (Machine m : s.machines()) {
            n += m.astray() ? 1 : 0;
        }
        return n;
    }

    private static String m(long mp) {
        return mp == 0 ? "nil" : "" + M.ID.get(mp);
    }

    private static String g(long gp) {
        return gp == 0 ? "nil" : "" + G.GOID.get(gp);
    }
}
