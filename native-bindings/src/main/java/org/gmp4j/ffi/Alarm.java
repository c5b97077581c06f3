// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.MemorySegment;

/**
 * Timers of the kernel whose signal rings a note (a futex word) that the thread which opened them sleeps on: c-shims {@code alarm.c}.
 * Of all threads none but that one is interrupted. No method allocates, or throws: a result below 0 is a negated error number.
 */
public final class Alarm {
    private static final MemorySegment TRY = Call.function("gmp_alarm_try");
    private static final MemorySegment OPEN = Call.function("gmp_alarm_open");
    private static final MemorySegment SET = Call.function("gmp_alarm_set");
    private static final MemorySegment CLOSE = Call.function("gmp_alarm_close");

    private Alarm() {
    }

    /**
     * Whether alarms ring on the calling thread, on which the signal is unblocked. Takes a tenth of a millisecond; if they do not,
     * some twenty.
     *
     * @param signo the signal, with the handler of {@link Signals#installPreempt}
     */
    public static boolean works(int signo) {
        return (int) Call.call(TRY, signo) == 0;
    }

    /**
     * A new alarm of the calling thread, which is not set. It lasts until it is closed.
     *
     * @param signo the signal, for which {@link #works} said true on this thread
     * @param note the address of the futex word that becomes 1; the same for all of a thread's alarms
     * @return its number, 0 or more; or -EAGAIN when the process has too many, -ENOMEM
     */
    public static int open(int signo, long note) {
        return (int) Call.call(OPEN, signo, note, 0);
    }

    /**
     * Sets it, from any thread: it will ring once, and not when it was to ring before. Some three microseconds.
     *
     * @param alarm its number
     * @param nanos nanoseconds from now, at least 1
     * @return 0, or -EINVAL when it is closed
     */
    public static int set(int alarm, long nanos) {
        return (int) Call.critical(SET, alarm, nanos);
    }

    /**
     * Closes it: it does not ring any more.
     *
     * @param alarm its number, which may be another's from here on
     * @return 0, or -EINVAL when it is closed
     */
    public static int close(int alarm) {
        return (int) Call.call(CLOSE, alarm);
    }
}
