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
 * {@code preemptone}, {@code gopreempt_m} and the request for a P: how sysmon gets a goroutine off its P.
 *
 * <ol>
 * <li>{@link #preemptone}: g.preempt is set. The goroutine yields at its next point: a call of
 * the runtime ({@link GStack#exit}) or a loop header that the agent armed.
 * <li>{@link #handoff}: if that does not help, or the thread sleeps in the kernel, the P is taken from it where it stands.
 * The goroutine runs on without one, as in a system call. {@link Gate} does that without the thread's help. Where the kernel
 * has no membarrier, SIGURG asks the thread to do it, and the first step notes by SIGURG where the goroutine is.
 * </ol>
 *
 * A signal ends a {@code usleep} or {@code poll} early, which user code need not expect. So none is sent where membarrier works.
 * Rejected: signals only to threads that run. Between sysmon's look at that and the signal the thread may fall asleep, and on a
 * busy machine, where sysmon loses its CPU in between, it does.
 *
 * A request names the P's schedtick, so that a goroutine that runs there by then is left alone. m.sigtick is written before m.sigreq,
 * which is a release; the handler reads them in the other order.
 */
public final class Preempt {
    /** m.sigreq, as in gmp.h. */
    private static final int SIG_PREEMPT = 1;
    private static final int SIG_HANDOFF = 2;

    /** The process's signal for preemption; 0 for none. Written by install and follow. */
    private static volatile int signo;
    private static long handler;
    private static boolean installed;

    private Preempt() {
    }

    /** What points call. */
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

    /** From here on points stop goroutines. */
    static void setHook() {
        Hook hook = new Hook();
        Points.setHook(hook, hook);
    }

    /**
     * Installs the handler, once a process: for SIGURG, or for a real-time signal if other code uses SIGURG. False when none is free.
     * In both of the latter cases a line on stderr says so, unless no signal is sent anyway. Code that sets a real-time signal back to
     * its default action while one of ours is on its way ends the process; the default for SIGURG is to ignore it, so it is tried first.
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
     * If other code has put its own handler in the place of ours since, leaves it that signal and takes another, as {@link #install} does.
     */
    static synchronized void follow() {
        if (signo != 0 && Signals.handlerOf(signo) != handler) {
            choose();
        }
    }

    private static void choose() {
        for (int candidate : new int[] {Signals.SIGURG, 60, 59, 58, 57}) {
            if (Signals.installPreempt(candidate)) {
                if (candidate != Signals.SIGURG && !Gate.possible()) { // Where the gate works no signal is sent.
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

    /** The signal to preempt with; 0 for none. */
    static int signal() {
        return signo;
    }

    /** Whether a goroutine that calls nothing can be made to let its P go. */
    static boolean possible() {
        return signo != 0 || Gate.possible();
    }

    /**
     * Tells the goroutine on a running P to yield, without a signal if its P can be taken without one. From any thread;
     * false when none runs there.
     */
    public static boolean preemptone(long pp) {
        return preemptone(pp, !Gate.possible());
    }

    /** The same; {@code signal}: have the handler note where it is. */
    static boolean preemptone(long pp, boolean signal) {
        long mp = P.M.getOpaque(pp);
        long gp = mp == 0 ? 0 : M.CURG.getOpaque(mp);
        if (gp == 0) {
            return false;
        }
        G.PREEMPT.setOpaque(gp, 1);
        return !signal || request(mp, P.SCHEDTICK.getOpaque(pp), SIG_PREEMPT);
    }

    /** Takes the P of {@code mp} by {@link Gate}, or where that does not work by {@link #handoff(long, int)}; false when it failed. */
    static boolean handoff(Scheduler s, long mp, int tick) {
        return Gate.possible() ? Gate.take(s, mp, tick) : handoff(mp, tick);
    }

    /**
     * Asks the thread of {@code mp} by a signal to let its running P go, if that is still in time slice {@code tick}. Whether it did
     * shows in the P's state soon afterwards.
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
        } catch (NativeException | OutOfMemoryError e) { // The second when there is no memory for the first.
            return false; // The thread has ended, or too many signals wait: the next look asks again.
        }
    }

    /** {@code preemptall}: for stopTheWorld. */
    static void preemptall(Scheduler s) {
        for (Processor pr : s.procs()) {
            if (PStatus.get(pr.pp) == PStatus.PRUNNING) {
                boolean _ = preemptone(pr.pp);
            }
        }
    }

    /** On a goroutine's stack, inside the runtime: it was told to yield. */
    static void gopreempt(GStack st) {
        Recorder.preempting(st, Schedt.GCWAITING.getAcquire(st.s.sched) != 0);
        Machine m = st.machine();
        m.op = Mcall.PREEMPT;
        Mcall.mcall(st, m);
    }

    /** Whether {@link #point} would make the calling goroutine yield. */
    static boolean told() {
        GStack st = GStack.current();
        return st != null && stops(st);
    }

    private static boolean stops(GStack st) {
        long mp = st.machine().mp;
        return (G.PREEMPT.getOpaque(st.gp) != 0 || M.P.getOpaque(mp) == 0) && M.INCGO.getOpaque(mp) == 0;
    }

    /** A point in user code: yields if the goroutine was told to, and gets a P if it lost its own. Not in a system call. */
    static void point() {
        GStack st = GStack.current();
        if (st != null && stops(st) && Headroom.enough()) {
            Points.setWanted(false); // At once, or each round of an armed loop would come here until sysmon looks again.
            st.acquirechecked(); // Without room it runs on: code that calls nothing must not fail because of a point.
            if (G.PREEMPT.getOpaque(st.gp) != 0) {
                PStat.NPOINT.addOpaque(st.pp(), 1);
            }
            st.releasem();
        }
    }
}
