// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.Signals;
import org.gmp4j.print.Stderr;
import org.gmp4j.struct.M;

/**
 * The process's signal for preemption. It asks a thread to mark its goroutine or to release its P ({@code preempt.c} has the handler).
 *
 * <p>A request names the P's schedtick. So if the request arrives late, when another goroutine runs on the P, it has no effect. The sender
 * writes m.sigtick, and then m.sigreq by release. The handler reads sigreq first, by acquire.
 */
public final class PreemptSignal {
    // Values of m.sigreq, as in gmp.h.
    public static final int PREEMPT = 1;
    public static final int HANDOFF = 2;

    /** The process's signal for preemption; 0 for none. Written by {@link #choose}, under the class's lock. */
    private static volatile int signo;
    /** The address of the runtime's handler for {@link #signo}. Accessed under the class's lock. */
    private static long handler;

    private PreemptSignal() {
    }

    /**
     * Chooses another signal, as {@link #choose} does, if other code has replaced the runtime's handler. The old signal is left to that
     * code.
     */
    public static synchronized void follow() {
        if (signo != 0 && Signals.handlerOf(signo) != handler) {
            choose();
        }
    }

    /**
     * Installs the signal handler: for SIGURG, or for a real-time signal if other code uses SIGURG. If SIGURG is not free and signals are
     * needed, prints a line on stderr. SIGURG is the first choice because its default action is to do nothing. The default action of a
     * real-time signal ends the process. If other code restored the default action while a signal is pending, the process would end.
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
        if (!Gate.possible()) {
            Stderr.print("gmp4j: no signal is free for preemption; goroutines yield at calls of the runtime only\n");
        }
    }

    /** Returns the signal for preemption; 0 for none. */
    public static int signal() {
        return signo;
    }

    /** Sends the request {@code what} to the thread of {@code mp}, for its P in time slice {@code tick}. Returns whether it was sent. */
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
        } catch (NativeException | OutOfMemoryError e) { // An OutOfMemoryError means that there was no memory for a NativeException.
            return false; // The thread has ended, or too many signals are pending. Sysmon's next scan tries again.
        }
    }
}
