// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.events.Ev;
import org.gmp4j.events.EventRing;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * {@code entersyscall exitsyscall}: how a goroutine runs on without a P, because a call that it makes may block the thread.
 *
 * <p>On entry the goroutine leaves its P in {@code _Psyscall}, remembers it as {@code m.oldp}, and no longer touches it (M4). The P then
 * belongs to the thread that moves it out of that state by CAS. After a short call this is the goroutine's M. In a long call it is sysmon
 * ({@code sysmon.Takeover}), or a thread that stops the world. If a goroutine blocks or computes without calling this class, {@link Gate}
 * or the signal handler ({@code preempt.c}) detaches its P in the same way. In all cases the next {@link GStack#enter} calls
 * {@link #exitsyscall}.
 *
 * <p>If sysmon took the P during a long call, and Gs wait for a P at the goroutine's next call, that next call hands the P to another M at
 * once ({@code entersyscallblock}). Sysmon would take it only at a later scan. When such a call turns out to be short, later calls keep
 * their P again.
 *
 * <p>When the call returns, another M may have taken oldp and left it in a system call of its own. This M may then take oldp by the same
 * CAS. The other M finds oldp gone when its call returns, and gets another P.
 */
public final class Syscall {
    /** If a call that handed its P off took less than this, in ns, the goroutine's next call keeps its P. */
    private static final long SHORT_NANOS = 50_000;

    private Syscall() {
    }

    /** Lets the calling goroutine run without a P until {@link #exit}, or until it calls the runtime. */
    public static void enter(GStack st) {
        st.acquirem();
        boolean lostP = st.lostP;
        st.lostP = false; // lostP describes the last call only.
        if (lostP && workWaits(st)) {
            st.gaveUpAt = System.nanoTime();
            entersyscallblock(st, false);
        } else {
            entersyscall(st);
        }
        st.releasem();
    }

    /** Ends {@link #enter}. Returns when the goroutine has a P again, perhaps on another M. */
    public static void exit(GStack st) {
        long gaveUpAt = st.gaveUpAt;
        if (gaveUpAt != 0) {
            st.gaveUpAt = 0;
            st.lostP = System.nanoTime() - gaveUpAt >= SHORT_NANOS;
        }
        // This repeats the steps of acquirem, because here the P is usually gone, and at the other callers of acquirem rarely. The JIT
        // profiles a branch for all callers of a method together, and would compile both outcomes as common.
        if (!st.raise() && !Gate.pass(st.machine().mp)) {
            exitsyscall(st);
        }
        st.releasem();
    }

    /** Returns whether there is a G, apart from the caller, that could run on the caller's P. */
    private static boolean workWaits(GStack st) {
        Machine m = st.machine();
        return !Runq.runqempty(m.pp()) || Schedt.RUNQSIZE.getOpaque(m.s.sched) > 0;
    }

    /** Gives the P up until the next {@link GStack#enter}. Called on the goroutine's stack, inside an enter. */
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
        M.INCGO.setOpaque(mp, 1); // It is 1 until exitsyscall, or until the JDK parks the goroutine. Meanwhile the M has no P (M5).
        PStatus.setVolatile(pp, PStatus.PSYSCALL); // Precedes the read of gcwaiting. stopTheWorld sets gcwaiting, then reads the status.
        long sched = m.s.sched;
        if (Schedt.GCWAITING.getVolatile(sched) != 0) {
            gcwait(sched, pp);
        }
        if (Schedt.SYSMONWAIT.getAcquire(sched) != 0) {
            Note.ring(Schedt.sysmonnoteAddress(sched)); // Sysmon must take the P if the call lasts.
        }
    }

    /**
     * Stops the P that this thread has just left in _Psyscall. StopTheWorld may have read the P's status before that, and so may have
     * missed the P.
     */
    private static void gcwait(long sched, long pp) {
        SchedLock.lock(sched);
        if (Schedt.STOPWAIT.get(sched) > 0) {
            StopTheWorld.stopInSyscall(sched, pp);
        }
        SchedLock.unlock(sched);
    }

    /**
     * {@code entersyscallblock}: hands the P to another M at once, because the call is expected to last.
     *
     * @param polled whether the call waits for the network, so that an M has to poll the network even if other Ps are busy
     */
    public static void entersyscallblock(GStack st, boolean polled) {
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
        // lastpoll is read after the P was put on the idle list. An M that leaves the poller sets lastpoll before it takes an idle P. So
        // this thread reads the new lastpoll, or that M finds the idle P.
        if (polled && Schedt.LASTPOLL.getVolatile(m.s.sched) != 0) {
            Wakep.wakep(m.s); // No M sleeps in the poller. The M that wakep wakes sleeps there if it finds no work.
        }
    }

    /**
     * Gets a P, or waits on the global queue until an M with a P runs the goroutine. Called by {@link GStack#enter} and {@link #exit}
     * without a P, and with m.locks raised.
     */
    static void exitsyscall(GStack st) {
        Machine m = st.machine();
        long mp = m.mp;
        M.INCGO.setOpaque(mp, 0);
        long oldp = M.OLDP.get(mp);
        if (reacquire(m)) { // The time slice continues. If each call began a new one, a goroutine of short calls could keep its P for ever.
            resumed(st);
            return;
        }
        if (oldp != 0) {
            st.lostP = P.LONGCALL.getOpaque(oldp) != 0; // Another thread took the P; the goroutine did not hand it off.
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
        EventRing trace = st.machine().trace;
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

    /** Takes m.oldp back, which this M's goroutine left in _Psyscall. Returns false if there is none, or another thread has taken it. */
    static boolean reacquire(Machine m) {
        long mp = m.mp;
        long oldp = M.OLDP.get(mp);
        M.OLDP.set(mp, 0);
        if (oldp == 0 || !PStatus.cas(oldp, PStatus.PSYSCALL, PStatus.PRUNNING)) {
            return false;
        }
        M.attachP(mp, oldp);
        P.M.setOpaque(oldp, mp);
        m.lookForTrace(oldp); // Other Ms may have had the P meanwhile.
        P.SYSCALLTICK.set(oldp, P.SYSCALLTICK.getOpaque(oldp) + 1);
        return true;
    }

    /** Takes an idle P for the G and returns the G, or enqueues it and returns 0. Called on g0, without a P. */
    static long exitsyscall0(Machine m, long gp) {
        Scheduler s = m.s;
        GStatus.casgstatus(gp, GStatus.GSYSCALL, GStatus.GRUNNABLE);
        s.traceOutside(Ev.SYSCALL_BLOCKED, 0, gp);
        Schedule.dropg(m, gp);
        SchedLock.lock(s.sched);
        long pp = Idle.pidleget(s.sched, System.nanoTime());
        if (pp == 0) {
            GlobalRunq.globrunqputarrived(s.sched, gp);
        }
        SchedLock.unlock(s.sched);
        if (pp == 0) {
            return 0;
        }
        Threads.acquirep(m, pp);
        return gp;
    }
}
