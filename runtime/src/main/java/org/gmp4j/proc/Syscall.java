// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.events.Ev;
import org.gmp4j.events.EventRing;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * {@code entersyscall exitsyscall}: a goroutine runs on without a P, because what it does may block the thread.
 *
 * <p>On entry it leaves its P in {@code _Psyscall}, remembers it as {@code m.oldp}, and no longer touches it (M4). The P
 * then belongs to whoever moves it out of that state by CAS: this M when it comes back soon, sysmon when it does not
 * ({@code sysmon.Takeover}), stopTheWorld. {@link Gate} and the signal handler ({@code preempt.c}) do the same to a goroutine that does
 * not do it itself. All these ways lead to {@link #exitsyscall}, which the next {@link GStack#enter} calls.
 *
 * <p>If the P was taken as a goroutine's last call lasted, and work waits, the next call gives the P to another M at once
 * ({@code entersyscallblock}): sysmon's look would come tens of microseconds later. When such a call turns out to be short, the
 * following ones keep their P again.
 *
 * <p>When we come back, the P may have gone to another M and be in another system call there. It may be taken from that M as from
 * any other, and that M will find another P.
 */
public final class Syscall {
    /** A call that took less than this should have kept its P. */
    private static final long SHORT_NANOS = 50_000;

    private Syscall() {
    }

    /** The calling goroutine runs on without a P until {@link #exit}, or until it calls the runtime. */
    public static void enter(GStack st) {
        st.acquirem();
        boolean lostP = st.lostP;
        st.lostP = false; // It says something of the last call only.
        if (lostP && workWaits(st)) {
            st.gaveUpAt = System.nanoTime();
            entersyscallblock(st, false);
        } else {
            entersyscall(st);
        }
        st.releasem();
    }

    /** Ends {@link #enter}: the goroutine has a P again, perhaps on another M. */
    public static void exit(GStack st) {
        long gaveUpAt = st.gaveUpAt;
        if (gaveUpAt != 0) {
            st.gaveUpAt = 0;
            st.lostP = System.nanoTime() - gaveUpAt >= SHORT_NANOS;
        }
        // Not acquirem, as here there is no P, which is rare there: C2 profiles branches by place, and would take both as common.
        if (!st.raise() && !Gate.pass(st.machine().mp)) {
            exitsyscall(st);
        }
        st.releasem();
    }

    /** Whether anything but the caller could run on its P. */
    private static boolean workWaits(GStack st) {
        Machine m = st.machine();
        return !Runq.runqempty(m.pp()) || Schedt.RUNQSIZE.getOpaque(m.s.sched) > 0;
    }

    /** On the goroutine's stack, inside {@link GStack#enter}: gives the P up. Ends with the next enter. */
    static void entersyscall(GStack st) {
        Machine m = st.machine();
        long mp = m.mp;
        long pp = m.pp();
        if (m.trace != null) {
            m.trace.stop(Ev.SYSCALL, 0, G.GOID.get(st.gp));
        }
        GStatus.casgstatus(st.gp, GStatus.GRUNNING, GStatus.GSYSCALL);
        M.OLDP.set(mp, pp);
        P.M.setOpaque(pp, 0);
        M.detachP(mp);
        M.INCGO.setOpaque(mp, 1); // No P any more (M5), until exitsyscall, or until the JDK parks the goroutine.
        PStatus.setVolatile(pp, PStatus.PSYSCALL); // Before gcwaiting is read: stopTheWorld does the two in the other order.
        long sched = m.s.sched;
        if (Schedt.GCWAITING.getVolatile(sched) != 0) {
            gcwait(sched, pp);
        }
        if (Schedt.SYSMONWAIT.getAcquire(sched) != 0) {
            Note.ring(Schedt.sysmonnoteAddress(sched)); // Sysmon must take the P if this lasts.
        }
    }

    /** The world is being stopped and may have looked at our P too early: stop it ourselves. */
    private static void gcwait(long sched, long pp) {
        SchedLock.lock(sched);
        if (Schedt.STOPWAIT.get(sched) > 0) {
            StopTheWorld.stopInSyscall(sched, pp);
        }
        SchedLock.unlock(sched);
    }

    /**
     * {@code entersyscallblock}: the call is known to last, so the P goes to another M at once.
     *
     * @param polled whether the network ends the call: an M is to watch it, though other Ps are at work
     */
    static void entersyscallblock(GStack st, boolean polled) {
        Machine m = st.machine();
        if (m.trace != null) {
            m.trace.stop(Ev.SYSCALL, 1, G.GOID.get(st.gp));
        }
        GStatus.casgstatus(st.gp, GStatus.GRUNNING, GStatus.GSYSCALL);
        long pp = Threads.releasep(m);
        P.SYSCALLTICK.set(pp, P.SYSCALLTICK.getOpaque(pp) + 1);
        M.OLDP.set(m.mp, 0);
        M.INCGO.setOpaque(m.mp, 1);
        Threads.handoffp(m.s, pp);
        // After the P was put on the idle list: an M that leaves the poller sets lastpoll before it looks for an idle P.
        if (polled && Schedt.LASTPOLL.getVolatile(m.s.sched) != 0) {
            Wakep.wakep(m.s); // No M sleeps in the poller. This one does when it finds no work.
        }
    }

    /** From {@link GStack#enter}, m.locks raised and no P: gets one, or waits on the global queue for one. */
    static void exitsyscall(GStack st) {
        Machine m = st.machine();
        long mp = m.mp;
        M.INCGO.setOpaque(mp, 0);
        long oldp = M.OLDP.get(mp);
        if (reacquire(m)) { // In the same time slice, or short calls would keep the P for ever.
            resumed(st);
            return;
        }
        if (oldp != 0) {
            st.lostP = P.LONGCALL.getOpaque(oldp) != 0; // It was taken, not given away.
        }
        long pp = idlep(m.s);
        if (pp != 0) {
            Threads.acquirep(m, pp);
            resumed(st);
            return;
        }
        m.op = Mcall.EXITSYSCALL;
        Mcall.mcall(st, m);
    }

    private static void resumed(GStack st) {
        GStatus.casgstatus(st.gp, GStatus.GSYSCALL, GStatus.GRUNNING);
        Machine m = st.machine();
        EventRing trace = m.trace;
        if (trace != null) {
            trace.event(Ev.SYSCALL_EXIT, 0, G.GOID.get(st.gp), 0);
        }
    }

    private static long idlep(Scheduler s) {
        if (Schedt.NPIDLE.getVolatile(s.sched) == 0) {
            return 0;
        }
        SchedLock.lock(s.sched);
        long pp = Idle.pidleget(s.sched, System.nanoTime());
        SchedLock.unlock(s.sched);
        return pp;
    }

    /** On g0: takes the P back that this M's goroutine left in _Psyscall and no longer needs; false when it is gone. */
    static boolean reacquire(Machine m) {
        long mp = m.mp;
        long oldp = M.OLDP.get(mp);
        M.OLDP.set(mp, 0);
        if (oldp == 0 || !PStatus.cas(oldp, PStatus.PSYSCALL, PStatus.PRUNNING)) {
            return false;
        }
        M.attachP(mp, oldp);
        P.M.setOpaque(oldp, mp);
        m.lookForTrace(oldp); // The P may have been with other Ms meanwhile.
        P.SYSCALLTICK.set(oldp, P.SYSCALLTICK.getOpaque(oldp) + 1);
        return true;
    }

    /** On g0, without a P: queues the G unless there is a P for it. Returns the G if it may run on. */
    static long exitsyscall0(Machine m, long gp) {
        Scheduler s = m.s;
        GStatus.casgstatus(gp, GStatus.GSYSCALL, GStatus.GRUNNABLE);
        s.traceOutside(Ev.SYSCALL_BLOCKED, 0, gp);
        Schedule.dropg(m, gp);
        SchedLock.lock(s.sched);
        long pp = Idle.pidleget(s.sched, System.nanoTime());
        if (pp == 0) {
            GlobalRunq.globrunqput(s.sched, gp);
        }
        SchedLock.unlock(s.sched);
        if (pp == 0) {
            return 0;
        }
        Threads.acquirep(m, pp);
        return gp;
    }
}
