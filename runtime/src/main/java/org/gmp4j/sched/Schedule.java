// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.invoke.VarHandle;

import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkState;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Latency;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.jspecify.annotations.Nullable;

/**
 * {@code schedule} and {@code execute}: the loop of an M, on its own stack.
 *
 * <p>Go's schedule never returns: it jumps into a goroutine, and is called anew when the goroutine yields the thread. Here it is a loop:
 * pick a G, run its stack, perform the operation that the G has requested ({@link Mcall}), pick the next G.
 */
final class Schedule {
    /** The time, in ns, before an M that found no memory for its only G tries again. Each attempt costs a collection or two. */
    private static final long NO_STACK_NAP = 1_000_000;
    /** The time, in ns, between two checks of a G that waits for an initialiser inside the runtime. */
    private static final long INITIALIZER_NAP = 20_000;

    private Schedule() {
    }

    /** Runs the loop of an M that has a P. The loop ends only by {@link Threads.Exit}. */
    static void schedule(Machine m) {
        long pick = 0;
        for (;;) {
            if (pick == 0) {
                long locked = M.LOCKEDG.get(m.mp);
                if (locked != 0) {
                    Threads.stoplockedm(m);
                    pick = locked;
                } else {
                    pick = FindRunnable.findRunnable(m);
                    m.inVain = 0;
                    if (M.SPINNING.get(m.mp) != 0) {
                        Wakep.resetspinning(m); // It checks the timers too.
                    } else if (m.untold != 0) {
                        Threads.wakeNetPoller(m.s, m.untold);
                    }
                    m.untold = 0;
                }
            }
            long gp = pick & ~Runq.INHERIT;
            long lockedm = G.LOCKEDM.get(gp);
            if (lockedm != 0 && lockedm != m.mp) {
                Threads.startlockedm(m, gp, lockedm);
                pick = 0;
            } else {
                pick = execute(m, gp, Mcall.inherits(pick));
                if (pick == 0 && m.pp() == 0 && !Syscall.reacquire(m) && M.LOCKEDG.get(m.mp) == 0) {
                    Threads.stopm(m); // The M does not sleep in execute, whose interpreted frame would keep the GStack reachable.
                }
            }
        }
    }

    /**
     * Runs a G until it yields the thread.
     *
     * @return the G to run next, with {@link Runq#INHERIT}; 0 to take one from the queues
     */
    @SuppressWarnings("NullAway") // A G with HASSTACK set has its stack in its slot.
    private static long execute(Machine m, long gp, boolean inheritTime) {
        GStack st;
        if (G.HASSTACK.get(gp) != 0) {
            st = (GStack) GSlots.stack(gp);
        } else {
            st = (GStack) m.s.proc(m.pp()).take();
            if (st == null) {
                st = newStack(m.s);
                if (st == null) {
                    putOff(m, gp);
                    return 0;
                }
            }
            Newproc.give(gp, st);
        }
        begin(m, gp, inheritTime);
        st.host = m;
        m.op = Mcall.JDK;
        JdkState.toRunning(st);
        long pp = m.pp();
        P.NSWITCH.setOpaque(pp, P.NSWITCH.getOpaque(pp) + 1);
        VarHandle.releaseFence(); // As in GStack.releasem.
        M.LOCKS.setOpaque(m.mp, st.locks); // From now on the P may be taken, unless the stack is inside the runtime.
        boolean ended = JdkThreads.run(st);
        left(m, st);
        return after(m, st, ended);
    }

    /** Begins the M's own work after {@link JdkThreads#run}. */
    private static void left(Machine m, GStack st) {
        st.parked();
        st.locks = M.LOCKS.getOpaque(m.mp);
        M.LOCKS.setOpaque(m.mp, 1);
        VarHandle.acquireFence(); // Between the store to locks and the read of the gate, as in GStack.raise.
        if (M.GATE.getOpaque(m.mp) != M.GATE_OPEN && !Gate.pass(m.mp)) {
            M.INCGO.setOpaque(m.mp, 0); // The JDK parked the goroutine inside a system call.
        }
    }

    private static @Nullable GStack newStack(Scheduler s) {
        try {
            return (GStack) s.stacks.pooled(s);
        } catch (OutOfMemoryError e) {
            return null;
        }
    }

    /**
     * Queues a fresh G behind all others, because there is no memory for its stack. It may later get the stack of a goroutine that has
     * ended.
     */
    private static void putOff(Machine m, long gp) {
        SchedLock.lock(m.s.sched);
        GlobalRunq.globrunqput(m.s.sched, gp);
        SchedLock.unlock(m.s.sched);
        if (Runq.runqempty(m.pp())) {
            boolean _ = Note.sleep(M.parkAddress(m.mp), NO_STACK_NAP); // Only the time limit ends this sleep, because the M is on no list.
        }
    }

    /**
     * Performs the operation for which the goroutine or the JDK yielded. After a yield of the JDK or an exitsyscall the M may have no P.
     */
    private static long after(Machine m, GStack st, boolean ended) {
        int op = m.op;
        if (ended) {
            return Goexit0.ended(m, st, op);
        }
        switch (op) {
            case Mcall.JDK -> {
                if (st.locks != 0) {
                    return stay(m, st);
                }
                Mcall.jdkYield(m, st);
                return 0;
            }
            case Mcall.GOEXIT -> {
                return Goexit0.exited(m, st);
            }
            case Mcall.PARK -> {
                JdkState.toWaiting(st);
                return Mcall.perform(m, st, op);
            }
            default -> {
                JdkState.toYielded(st);
                return Mcall.perform(m, st, op);
            }
        }
    }

    /**
     * Waits for a G that the JDK has unmounted inside the runtime, and runs it again. Such a G waits for another thread to initialise a
     * class. (JDK 25 pins the thread in that wait; later versions do not.) The G must keep its M and P. So the M waits for the G as for a
     * pinned G. The ticket is closed, so the JDK's wake-up queues nothing ({@code JdkReady}). The M finds the wake-up in the state of the
     * G's virtual thread.
     */
    private static long stay(Machine m, GStack st) {
        while (!JdkState.afterYield(st)) { // There is no memory for the JDK's part of the yield.
            boolean _ = Note.sleep(M.parkAddress(m.mp), NO_STACK_NAP);
        }
        while (!JdkState.jdkRunnable(st)) {
            boolean _ = Note.sleep(M.parkAddress(m.mp), INITIALIZER_NAP); // Only the time limit ends this sleep, as in putOff.
        }
        JdkState.toRunning(st);
        VarHandle.releaseFence(); // As in execute.
        M.LOCKS.setOpaque(m.mp, st.locks);
        boolean ended = JdkThreads.run(st);
        left(m, st);
        return after(m, st, ended);
    }

    /** Binds the G to the M and makes it {@code _Grunning} (G2: G, M and P refer to each other before the status says so). */
    static void begin(Machine m, long gp, boolean inheritTime) {
        G.M.set(gp, m.mp);
        M.CURG.setOpaque(m.mp, gp);
        GStatus.casgstatus(gp, GStatus.GRUNNABLE, GStatus.GRUNNING);
        if (m.trace != null) {
            m.trace.start(G.GOID.get(gp), inheritTime);
        }
        if (G.PREEMPT.getOpaque(gp) != 0) {
            G.PREEMPT.setOpaque(gp, 0);
        }
        long pp = m.pp();
        Latency.runs(gp, pp);
        if (!inheritTime) {
            newSlice(m, pp);
        }
    }

    /** Begins a time slice on the caller's P, and so ends the last slice there. Changes schedtick, by which sysmon distinguishes slices. */
    static void newSlice(Machine m, long pp) {
        P.SCHEDTICK.setOpaque(pp, P.SCHEDTICK.get(pp) + 1);
        P.INHERITED.set(pp, 0);
        m.slices.begins(pp);
    }

    /** Unbinds the G from the M. Called when the G's status is no longer {@code _Grunning}. */
    static void dropg(Machine m, long gp) {
        M.CURG.setOpaque(m.mp, 0);
        G.M.set(gp, 0);
    }
}
