// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.function.BooleanSupplier;

import org.gmp4j.agent.Points;
import org.gmp4j.print.Stderr;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.PreemptSignal;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Recorder;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * {@code preemptone}, {@code gopreempt_m} and the hand-off of a P: how sysmon takes a goroutine off its P, in two steps.
 *
 * <ol>
 * <li>{@link #preemptone} sets g.preempt. The goroutine yields at its next preemption point: at the end of a call of the runtime
 * ({@link GStack#exit}), or at a loop header that the agent armed.
 * <li>If that does not help, or the thread sleeps in the kernel, {@link #handoff} takes the P from the thread. The goroutine runs on
 * without a P, as in a system call. {@link Gate} takes the P without the thread's help. Where the kernel has no membarrier, SIGURG makes
 * the thread release the P. On such a kernel the first step sends SIGURG, too, and the handler records where the goroutine is.
 * </ol>
 *
 * A signal ends a {@code usleep} or {@code poll} early, which user code need not expect. So no signal is sent where membarrier works.
 * Signals only to running threads would not help: a thread may fall asleep between sysmon's check and the signal, because on a busy
 * machine sysmon may lose its CPU in between. {@link PreemptSignal} has the signal.
 */
public final class Preempt {
    private static boolean installed;

    private Preempt() {
    }

    /** The hook that preemption points call. */
    private static final class Hook implements Runnable, BooleanSupplier {
        @Override
        public void run() {
            point();
        }

        @Override
        public boolean getAsBoolean() {
            return told();
        }
    }

    /** Makes preemption points stop goroutines from now on. */
    static void setHook() {
        Hook hook = new Hook();
        Points.setHook(hook, hook);
    }

    /**
     * Sets the hook of the preemption points and installs the signal handler, once in a process. Prints on stderr why points preempt no
     * goroutine, if there is such a reason.
     */
    public static synchronized void install() {
        if (!installed) {
            setHook();
            installed = true;
            PreemptSignal.choose();
            String problem = Points.problem();
            if (problem != null) {
                Stderr.print(problem + "\n");
            }
        }
    }

    /** Returns whether the P can be taken from a goroutine that reaches no preemption point. */
    public static boolean possible() {
        return PreemptSignal.signal() != 0 || Gate.possible();
    }

    /**
     * Requests that the goroutine on a running P yields. Sends a signal only if the P cannot be taken without one. Called from any thread.
     * Returns false when no goroutine runs on the P, or a signal could not be sent.
     */
    public static boolean preemptone(long pp) {
        return preemptone(pp, !Gate.possible());
    }

    /**
     * Requests that the goroutine on a running P yields. If {@code signal} is set, also sends the signal whose handler records where the
     * goroutine is. Returns false when no goroutine runs on the P, or the signal could not be sent.
     */
    static boolean preemptone(long pp, boolean signal) {
        long mp = P.M.getOpaque(pp);
        long gp = mp == 0 ? 0 : M.CURG.getOpaque(mp);
        if (gp == 0) {
            return false;
        }
        G.PREEMPT.setOpaque(gp, 1);
        return !signal || PreemptSignal.request(mp, P.SCHEDTICK.getOpaque(pp), PreemptSignal.PREEMPT);
    }

    /**
     * Takes the P of {@code mp} by {@link Gate}, or, where that is not possible, by {@link #handoff(long, int)}. Returns whether it
     * succeeded.
     */
    static boolean handoff(Scheduler s, long mp, int tick) {
        return Gate.possible() ? Gate.take(s, mp, tick) : handoff(mp, tick);
    }

    /**
     * Requests by a signal that the thread of {@code mp} releases its running P, if the P is still in time slice {@code tick}. Returns
     * whether the signal was sent. Soon afterwards the P's status shows whether the thread has released the P.
     */
    public static boolean handoff(long mp, int tick) {
        return mp != 0 && PreemptSignal.request(mp, tick, PreemptSignal.HANDOFF);
    }

    /** {@code preemptall}: requests that the goroutines on all running Ps yield. Called to stop the world. */
    static void preemptall(Scheduler s) {
        for (Processor pr : s.procs()) {
            if (PStatus.get(pr.pp) == PStatus.PRUNNING) {
                boolean _ = preemptone(pr.pp);
            }
        }
    }

    /** Yields because the calling goroutine was asked to. Called on its stack, inside the runtime. */
    static void gopreempt(GStack st) {
        Recorder.preempting(st.s, st.gp, Schedt.GCWAITING.getAcquire(st.s.sched) != 0);
        Machine m = st.machine();
        m.op = Mcall.PREEMPT;
        Mcall.mcall(st, m);
    }

    /** Returns whether {@link #point} would make the calling goroutine yield or get a P. */
    static boolean told() {
        GStack st = GStack.current();
        return st != null && stops(st);
    }

    private static boolean stops(GStack st) {
        long mp = st.machine().mp;
        return (G.PREEMPT.getOpaque(st.gp) != 0 || M.P.getOpaque(mp) == 0) && M.INCGO.getOpaque(mp) == 0;
    }

    /**
     * Yields if the calling goroutine was asked to, and gets a P if it has lost its own. Called at a preemption point of user code. Does
     * nothing in a system call.
     */
    static void point() {
        GStack st = GStack.current();
        // Without room on the stack the goroutine runs on. Code without calls must not fail because of a preemption point.
        if (st != null && stops(st) && Headroom.enough()) {
            Points.setWanted(false); // Otherwise each iteration of an armed loop would call this method until sysmon's next scan.
            st.acquirechecked();
            if (G.PREEMPT.getOpaque(st.gp) != 0) {
                PStat.NPOINT.addOpaque(st.pp(), 1);
            }
            st.releasem();
        }
    }
}
