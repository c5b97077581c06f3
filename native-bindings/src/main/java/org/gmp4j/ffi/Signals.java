// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import org.gmp4j.ffi.linux.linux_h;

/** Sends signals to threads of this process, and reads and installs signal handlers. Thread-safe, allocates nothing. */
public final class Signals {
    /** The signal by which Go and this runtime preempt. Processes ignore it by default, so a late signal does no harm. */
    public static final int SIGURG = linux_h.SIGURG;

    /** The signal that ends the process, with a core file if these are enabled. It has this number on all machines. */
    public static final int SIGABRT = 6;

    /** {@link #handlerOf}: the default action. */
    public static final long SIG_DFL = 0;

    /** {@link #handlerOf}: the signal is ignored. */
    public static final long SIG_IGN = 1;

    private static final Call.Function QUEUE = Call.function("gmp_signal_queue");
    private static final Call.Function KILL = Call.function("gmp_tgkill");

    private Signals() {
    }

    /**
     * Sends a signal with a value ({@code rt_tgsigqueueinfo}, {@code SI_QUEUE}). A signal below 32 that is already pending is not
     * queued again, and keeps its first value.
     *
     * @param tid the kernel's id of a thread of this process
     * @param signo the signal
     * @param value the value, which arrives as {@code si_value}
     * @throws NativeException ESRCH when the thread has ended, EINVAL for a bad signal number, EAGAIN when too many
     *     real-time signals are queued
     */
    public static void queue(int tid, int signo, long value) {
        int r = (int) Call.call(QUEUE, tid, signo, value);
        if (r < 0) {
            throw new NativeException("rt_tgsigqueueinfo(" + tid + ", signal " + signo + ")", -r);
        }
    }

    /**
     * Sends a signal without a value ({@code tgkill}).
     *
     * @param tid the kernel's id of a thread of this process
     * @param signo the signal; 0 only checks that the thread exists
     * @throws NativeException ESRCH when the thread has ended, EINVAL for a bad signal number
     */
    public static void send(int tid, int signo) {
        int r = (int) Call.call(KILL, tid, signo, 0);
        if (r < 0) {
            throw new NativeException("tgkill(" + tid + ", signal " + signo + ")", -r);
        }
    }

    /**
     * Returns the handler of a signal, which shows whether other code of the process uses the signal.
     *
     * @param signo the signal
     * @return the handler's address, {@link #SIG_DFL} or {@link #SIG_IGN}
     * @throws NativeException EINVAL for a bad signal number
     */
    public static long handlerOf(int signo) {
        long r = Call.call(Call.function("gmp_signal_handler"), signo);
        if (r < 0) {
            throw new NativeException("sigaction(" + signo + ")", (int) -r);
        }
        return r;
    }

    /**
     * Installs the runtime's preemption handler (c-shims {@code preempt.c}) for a signal. May be repeated.
     *
     * @param signo the signal
     * @return false when the signal has another handler, which stays
     * @throws NativeException EINVAL for a bad signal number
     */
    public static boolean installPreempt(int signo) {
        int r = (int) Call.call(Call.function("gmp_preempt_install"), signo);
        if (r == -Errno.EBUSY) {
            return false;
        }
        if (r < 0) {
            throw new NativeException("sigaction(" + signo + ")", -r);
        }
        return true;
    }
}
