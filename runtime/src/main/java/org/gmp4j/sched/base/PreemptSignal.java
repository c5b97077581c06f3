// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.Signals;
import org.gmp4j.print.Stderr;
import org.gmp4j.struct.M;

/**
 * The process's signal for preemption: which signal it is, and how a thread is asked by it to mark its goroutine or to let its P go
 * ({@code preempt.c} has the handler).
 *
 * <p>A request names the P's schedtick, so that another goroutine that runs there by then is left alone. m.sigtick is written before
 * m.sigreq, whose store is a release. The handler reads sigreq first, by acquire.
 */
public final class PreemptSignal {
    // Values of m.sigreq, as in gmp.h.
    public static final int PREEMPT = 1;
    public static final int HANDOFF = 2;

    /** The process's signal for preemption; 0 for none. Written by {@link #choose}, under the class's lock. */
    private static volatile int signo;
    /** The address of our handler for {@link #signo}. Accessed under the class's lock. */
    private static long handler;

    private PreemptSignal() {
    }

    /**
     * Takes another signal, as {@link #choose} does, if other code has replaced our handler since. That code keeps the old signal.
     */
    public static synchronized void follow() {
        if (signo != 0 && Signals.handlerOf(signo) != handler) {
            choose();
        }
    }

    /**
     * Installs the signal handler: for SIGURG, or for a real-time signal if other code uses SIGURG. If it is not SIGURG, a line on stderr
     * says so, unless no signal is sent anyway. SIGURG is tried first because its default action is to ignore it: other code that resets a
     * real-time signal to its default action while one of ours is pending ends the process.
     */
    public static synchronized void choose() {
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
    public static int signal() {
        return signo;
    }

    /** Asks the thread of {@code mp} for {@code what}, if its P is still in time slice {@code tick}. Returns whether it was sent. */
    public static boolean request(long mp, int tick, int what) {
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
}
