// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.events.Ev;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Collected;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.stack.JdkState;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;

/**
 * {@code mcall}: how a goroutine hands control to its M's own stack (g0), and the operations that the M performs there.
 *
 * <p>Protocol
 * <ol>
 * <li>On its stack the G writes its request: an op into its {@link Machine}, and for a park the unlock function into its {@link GStack}.
 * <li>It yields. Its frames leave the thread, and the M returns from {@link JdkThreads#run} with the stack unmounted.
 * <li>The M performs the op. Only then the G's status changes, and other Ms may find the G.
 * </ol>
 * So a G is never on a queue while its frames are on a thread. An M that takes the G from a queue may run it at once. When the JDK itself
 * yielded (a park, a monitor), op is {@link #JDK}, and the M completes the yield by the JDK's own code.
 *
 * <p>A native frame or a class initialiser may keep the stack on the thread. Then the op is performed on the G's own stack, and the M parks
 * with the G as if the G were locked to the thread. The M's P goes to another M. The M that later schedules the G hands its own P over
 * ({@code startlockedm}). So no other goroutine waits for the pinned one.
 *
 * <p>A pinned G that was asked to yield does not park its M, because each such park would cost another thread. It runs on, with g.preempt
 * still set, to its next preemption point. There it is usually no longer pinned ({@code Thread.start} pins only briefly). If it stays
 * pinned for long, sysmon takes its P ({@code sysmon.Retake}). When it next needs a P, it parks its M. While the world is being stopped it
 * parks at once, because the stop cannot wait. {@code goyield} of a pinned G does nothing, because it is only a courtesy to other Gs.
 * {@code gosched} of a pinned G does park. Otherwise, with one P, a pinned loop that calls gosched until another goroutine has done
 * something would never end.
 */
public final class Mcall {
    /** The JDK yielded, and the goroutine requests no operation. */
    public static final int JDK = 0;
    /** park_m. */
    static final int PARK = 1;
    /** gosched_m. */
    static final int GOSCHED = 2;
    /** goexit0: the G is dead already, and its stack is free. */
    static final int GOEXIT = 3;
    /** gopreempt_m. */
    static final int PREEMPT = 4;
    /** exitsyscall0: the M has no P. */
    static final int EXITSYSCALL = 5;
    /** goyield_m. */
    static final int GOYIELD = 6;

    private Mcall() {
    }

    /**
     * Yields to the M, which performs {@code m.op}. Returns when the G runs again, perhaps on another M, or at once if the G is pinned and
     * the op can wait. Called on the G's stack.
     */
    static void mcall(GStack st, Machine m) {
        if (LockRank.CHECK && m.op != PARK) {
            LockRank.mayPark(0); // Checks G5. For a park, gopark has checked it.
        }
        if (JdkThreads.yield(st)) {
            return;
        }
        if ((m.op == PREEMPT || m.op == GOYIELD) && Schedt.GCWAITING.getAcquire(m.s.sched) == 0) {
            m.op = JDK; // No other thread has seen the op. The stack is still mounted, on m.
        } else {
            pinned(st, m);
        }
    }

    /** Performs the op of a G whose yield failed. Called on the G's stack, which is still mounted on {@code m}. */
    private static void pinned(GStack st, Machine m) {
        int op = m.op;
        m.op = JDK;
        long gp = st.gp;
        G.LOCKEDM.setOpaque(gp, m.mp);
        M.LOCKEDG.setOpaque(m.mp, gp);
        long next = perform(m, st, op) & ~Runq.INHERIT;
        if (next != gp) {
            if (next != 0) {
                SchedLock.lock(m.s.sched);
                GlobalRunq.globrunqputhead(m.s.sched, next); // This M had picked the G, but parks now.
                SchedLock.unlock(m.s.sched);
            }
            Threads.stoplockedm(m);
        }
        Schedule.begin(m, gp, next == gp);
        if (M.LOCKEDEXT.get(m.mp) == 0 && M.LOCKEDINT.get(m.mp) == 0) {
            G.LOCKEDM.setOpaque(gp, 0);
            M.LOCKEDG.setOpaque(m.mp, 0);
        }
    }

    /**
     * Performs an op. Called on g0 after the stack was unmounted, or on the stack of a pinned G.
     *
     * @return the G to run next, with Runq.INHERIT; 0 to take one from the queues
     */
    static long perform(Machine m, GStack st, int op) {
        long gp = st.gp;
        switch (op) {
            case PARK -> {
                return parkm(m, st, gp);
            }
            case GOSCHED -> {
                leaveSlice(m, gp, Ev.GOSCHED);
                GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GRUNNABLE);
                return goschedm(m, gp);
            }
            case PREEMPT -> {
                leaveSlice(m, gp, Ev.PREEMPT);
                PStat.NPREEMPT.addOpaque(m.pp(), 1);
                GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GPREEMPTED);
                GStatus.casgstatus(gp, GStatus.GPREEMPTED, GStatus.GRUNNABLE);
                return goschedm(m, gp);
            }
            case GOYIELD -> {
                leaveSlice(m, gp, Ev.GOYIELD);
                GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GRUNNABLE);
                Schedule.dropg(m, gp);
                Runq.runqput(m.s.sched, m.pp(), gp, false);
                Wakep.wakep(m.s); // Otherwise the G might wait here while another P is idle, as in Go.
                return 0;
            }
            case EXITSYSCALL -> {
                return Syscall.exitsyscall0(m, gp);
            }
            default -> throw Throw.of("mcall: bad op " + op);
        }
    }

    /**
     * Records a yield, and ends the time slice if the G was asked to yield. Otherwise the G in runnext would inherit the slice, and sysmon
     * would ask that G to yield, too.
     */
    private static void leaveSlice(Machine m, long gp, int why) {
        if (m.trace != null) {
            m.trace.stop(Ev.YIELD, why, G.GOID.get(gp));
        }
        if (G.PREEMPT.getOpaque(gp) != 0) {
            Schedule.newSlice(m, m.pp());
        }
    }

    /** park_m. */
    @SuppressWarnings("NullAway") // The unlock function expects what its gopark passed.
    private static long parkm(Machine m, GStack st, long gp) {
        Park.Unlock unlock = st.parkUnlock;
        Object lock = st.parkLock;
        if (m.trace != null) {
            m.trace.stop(Ev.BLOCK, G.WAITREASON.getOpaque(gp), G.GOID.get(gp));
        }
        G.WAITSINCE.setOpaque(gp, 0);
        GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GWAITING);
        Schedule.dropg(m, gp);
        if (unlock != null && !unlock.unlock(gp, lock)) {
            GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
            if (m.trace != null) {
                m.trace.event(Ev.UNBLOCK, 0, G.GOID.get(gp), 0);
            }
            return gp | Runq.INHERIT;
        }
        return 0;
    }

    /**
     * gosched_m, gopreempt_m: puts the G at the tail of the global queue. If the P has no other work, takes a G from this queue under the
     * same hold of the lock, as findRunnable would next.
     */
    private static long goschedm(Machine m, long gp) {
        long sched = m.s.sched;
        Schedule.dropg(m, gp);
        boolean onlyGlobal = FindRunnable.onlyGlobal(m);
        SchedLock.lock(sched);
        GlobalRunq.globrunqput(sched, m.pp(), gp);
        long next = onlyGlobal ? FindRunnable.fromGlobal(sched, m.pp()) : 0;
        SchedLock.unlock(sched);
        Wakep.wakep(m.s);
        return next;
    }

    /**
     * Completes a yield of the JDK, which makes the G {@code _Gwaiting}. Afterwards the G belongs to the thread that wakes it
     * ({@code JdkReady}).
     */
    static void jdkYield(Machine m, GStack st) {
        long gp = st.gp;
        G.WAITREASON.setOpaque(gp, WaitReason.JDK.ordinal());
        // Sysmon times the waits, but a wait without a P may begin after its last pass, so such a wait is timed here.
        G.WAITSINCE.setOpaque(gp, m.pp() != 0 ? 0 : System.nanoTime() | 1);
        if (m.pp() == 0) {
            m.s.traceOutside(Ev.BLOCK, m.s.tracer == null ? 0 : st.jdkReason().ordinal(), gp);
        } else if (m.trace != null) {
            m.trace.stop(Ev.BLOCK, st.jdkReason().ordinal(), G.GOID.get(gp));
        }
        GStatus.casgstatus(gp, m.pp() == 0 ? GStatus.GSYSCALL : GStatus.GRUNNING, GStatus.GWAITING);
        Schedule.dropg(m, gp);
        if (m.s.config.deadlockDetection()) {
            long _ = Schedt.addNjdkwait(m.s.sched, 1);
        }
        Collected.parking(st, gp);
        st.openTicket();
        if (!JdkState.afterYield(st)) {
            m.s.leftovers.add(m.s.sched, st);
        }
    }

    /** Returns whether a picked G inherits the time slice. */
    static boolean inherits(long pick) {
        return (pick & Runq.INHERIT) != 0;
    }
}
