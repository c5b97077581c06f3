// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.function.BooleanSupplier;

import org.gmp4j.agent.Points;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.Signals;
import org.gmp4j.print.Stderr;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * {@code preemptone}, {@code gopreempt_m} and the request for a P: how sysmon takes a goroutine off its P, in two steps.
 *
 * <ol>
 * <li>{@link #preemptone} sets g.preempt. The goroutine yields at its next point: at the end of a call of
 * the runtime ({@link GStack#exit}), or at a loop header that the agent armed.
 * <li>If that does not help, or the thread sleeps in the kernel, {@link #handoff} takes the P from the thread. The goroutine runs on
 * without one, as in a system call. {@link Gate} does that without the thread's help. Where the kernel has no membarrier, SIGURG asks
 * the thread to let the P go, and already the first step sends SIGURG, whose handler notes where the goroutine is.
 * </ol>
 *
 * A signal ends a {@code usleep} or {@code poll} early, which user code need not expect. So no signal is sent where membarrier works.
 * Rejected: to send signals only to threads that run. The thread may fall asleep between sysmon's check and the signal, and on a busy
 * machine, where sysmon loses its CPU in between, it does.
 *
 * A request names the P's schedtick, so that another goroutine that runs there by then is left alone. m.sigtick is written before
 * m.sigreq, whose store is a release. The handler reads sigreq first, by acquire.
 */
public final class Preempt {
    // Values of m.sigreq, as in gmp.h.
    private static final int SIG_PREEMPT = 1;
    private static final int SIG_HANDOFF = 2;

    /** The process's signal for preemption; 0 for none. Written by {@link #choose}, under the class's lock. */
    private static volatile int signo;
    /** The address of our handler for {@link #signo}. Accessed under the class's lock. */
    private static long handler;
    private static boolean installed;

    private Preempt() {
    }

    /** The hook that points call. */
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

    /** Makes points stop goroutines from now on. */
    static void setHook() {
        Hook hook = new Hook();
        Points.setHook(hook, hook);
    }

    /**
     * Installs the signal handler, once in a process: for SIGURG, or for a real-time signal if other code uses SIGURG. Returns false when
     * no signal is free. If it is not SIGURG, a line on stderr says so, unless no signal is sent anyway. SIGURG is tried first because
     * its default action is to ignore it: other code that resets a real-time signal to its default action while one of ours is pending
     * ends the process.
     */
    static boolean install() {
        synchronized (Preempt.class) {
            if (!installed) {
                setHook();
                installed = true;
                choose();
                String problem = Points.problem();
                if (problem != null) {
                    Stderr.print(problem + "\n");
                }
            }
        }
        return signo != 0;
    }

    /**
     * Takes another signal, as {@link #install} does, if other code has replaced our handler since. That code keeps the old signal.
     */
    static synchronized void follow() {
        if (signo != 0 && Signals.handlerOf(signo) != handler) {
            choose();
        }
    }

    private static void choose() {
        for (int candidate : new int[] {Signals.SIGURG, 60, 59, 58, 57}) {
            if (Signals.installPreempt(candidate)) {
                if (candidate != Signals.SIGURG && !Gate.possible()) { // If the gate works, no signal is sent.
                    Stderr.print("gmp4j: SIGURG belongs to other code in this process; preempting with signal " + candidate
                            + "\n");
                }
                handler = Signals.handlerOf(candidate);
                signo = candidate;
                return;
            }
        }
        signo = 0;
        if (Gate.possible()) {
            return;
        }
        Stderr.print("gmp4j: no signal is free for preemption; goroutines yield at calls of the runtime only\n");
    }

    /** Returns the signal for preemption; 0 for none. */
    static int signal() {
        return signo;
    }

    /** Returns whether the P can be taken from a goroutine that reaches no point. */
    static boolean possible() {
        return signo != 0 || Gate.possible();
    }

    /**
     * Requests that the goroutine on a running P yields. Sends a signal only if the P cannot be taken without one. Called from any thread.
     * Returns false when no goroutine runs there.
     */
    public static boolean preemptone(long pp) {
        return preemptone(pp, !Gate.possible());
    }

    /**
     * Requests that the goroutine on a running P yields. If {@code signal} is set, also sends the signal whose handler notes where the
     * goroutine is. Returns false when no goroutine runs there, or the signal could not be sent.
     */
    static boolean preemptone(long pp, boolean signal) {
        long mp = P.M.getOpaque(pp);
        long gp = mp == 0 ? 0 : M.CURG.getOpaque(mp);
        if (gp == 0) {
            return false;
        }
        G.PREEMPT.setOpaque(gp, 1);
        return !signal || request(mp, P.SCHEDTICK.getOpaque(pp), SIG_PREEMPT);
    }

    /** Takes the P of {@code mp} by {@link Gate}, or if that is not possible by {@link #handoff(long, int)}. False when that failed. */
    static boolean handoff(Scheduler s, long mp, int tick) {
        return Gate.possible() ? Gate.take(s, mp, tick) : handoff(mp, tick);
    }

    /**
     * Requests by a signal that the thread of {@code mp} lets its running P go, if that is still in time slice {@code tick}. Returns
     * whether the signal was sent. The P's status shows soon afterwards whether the thread has let it go.
     */
    public static boolean handoff(long mp, int tick) {
        return mp != 0 && request(mp, tick, SIG_HANDOFF);
    }

    private static boolean request(long mp, int tick, int what) {
        int tid = (int) M.PROCID.get(mp);
        int signal = signo;
        if (signal == 0 || tid == 0) {
            return false;
        }
        M.SIGTICK.setOpaque(mp, tick);
        M.SIGREQ.setRelease(mp, what);
        M.SIGSENT.setOpaque(mp, M.SIGSENT.getOpaque(mp) + 1);
        try {
            Signals.queue(tid, signal, mp);
            return true;
        } catch (NativeException | OutOfMemoryError e) { // An OutOfMemoryError if there is no memory for a NativeException.
            return false; // The thread has ended, or too many signals are pending. Sysmon's next scan tries again.
        }
    }

    /** {@code preemptall}: requests that the goroutines on all running Ps yield. Called to stop the world. */
    static void preemptall(Scheduler s) {
        for (Processor pr : s.procs()) {
            if (PStatus.get(pr.pp) == PStatus.PRUNNING) {
                boolean _ = preemptone(pr.pp);
            }
        }
    }

    /** Yields, as the calling goroutine was asked to. Called on its stack, inside the runtime. */
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
     * Yields if the calling goroutine was asked to, and gets a P if it has lost its own. Called at a point in user code. Does nothing in a
     * system call.
     */
    static void point() {
        GStack st = GStack.current();
        if (st != null && stops(st) && Headroom.enough()) {
            Points.setWanted(false); // At once: otherwise each iteration of an armed loop would come here until sysmon's next scan.
            st.acquirechecked(); // Without room on the stack it runs on: code without calls must not fail because of a point.
            if (G.PREEMPT.getOpaque(st.gp) != 0) {
                PStat.NPOINT.addOpaque(st.pp(), 1);
            }
            st.releasem();
        }
    }
}
