// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * What threads and processes inherit from the thread that creates them: CPUs, scheduling policy, nice value, signal mask,
 * timer slack. The runtime's own threads put on the process's instead, and take off what the runtime has set on them while
 * they create others: c-shims {@code osthread.c}. Thread-safe.
 */
public final class Inheritance {
    private static final Call.Function BEGIN = Call.function("gmp_thread_begin");
    private static final Call.Function PLAIN = Call.function("gmp_thread_plain");

    private Inheritance() {
    }

    /**
     * Makes the calling thread one of the runtime's: gives it the CPUs, the policy and the signal mask of the process. What
     * the kernel refuses stays as it was.
     *
     * @param signo a signal to unblock; 0 for none
     * @param slackNanos the thread's timer slack, 1 or more; 0 for the process's
     * @return whether nothing was refused
     */
    public static boolean begin(int signo, int slackNanos) {
        return (int) Call.call(BEGIN, signo, slackNanos, 0) == 0;
    }

    /**
     * The same for a thread that wants nothing of its own: it goes on as one that the process's first thread had started.
     * Without memory for the call it goes on as it is.
     */
    public static void beginPlain() {
        try {
            boolean _ = begin(0, 0);
        } catch (OutOfMemoryError e) {
            return;
        }
    }

    /**
     * Whether what the calling thread creates has the process's CPUs and policy.
     *
     * @return false when the thread, or whichever made it, has set its own
     */
    public static boolean isPlain() {
        return (int) Call.call(PLAIN) != 0;
    }

    /**
     * Restricts the calling thread to some CPUs, as {@link Affinity#set} does; threads and processes that it creates do
     * not inherit that, once {@link #hook} was called and if the thread has begun by {@link #begin}.
     *
     * @param cpus the CPUs
     * @throws NativeException EINVAL when none of the CPUs can be had
     */
    public static void place(BitSet cpus) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = Affinity.mask(cpus, arena);
            int r = (int) Call.call(Call.function("gmp_thread_place"), mask.address(), mask.byteSize(), 0);
            if (r < 0) {
                throw new NativeException("sched_setaffinity(0, " + cpus + ")", -r);
            }
        }
    }

    /**
     * From now on what threads create that begin by {@link #begin} does not inherit what is set on them. Functions of ours stand
     * around those of the JDK that create threads and processes since the library was loaded. Harmless when repeated.
     *
     * @return false when this JVM is not made as we know it; then nothing has changed
     */
    public static boolean hook() {
        return (int) Call.call(Call.function("gmp_thread_hook")) == 0;
    }
}
