// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.util.BitSet;

/**
 * Controls the attributes that threads and processes inherit from the thread that creates them: CPUs, scheduling policy, nice value,
 * signal mask, timer slack. The runtime's threads begin with the process's attributes. While they create threads or processes they drop the
 * attributes that the runtime has set on them. See c-shims {@code osthread.c}. Thread-safe.
 */
public final class Inheritance {
    private static final Call.Function PLACE = Call.function("gmp_thread_place");
    private static final Call.Function BEGIN = Call.function("gmp_thread_begin");
    private static final Call.Function PLAIN = Call.function("gmp_thread_plain");

    private Inheritance() {
    }

    /**
     * Makes the calling thread one of the runtime's threads, and gives it the CPUs, policy, nice value and signal mask of the process. An
     * attribute that the kernel refuses stays as it was.
     *
     * @param signo a signal to unblock; 0 for none
     * @param slackNanos the thread's timer slack, 1 or more; 0 for the process's slack
     * @return false when the kernel has refused the policy or the nice value
     */
    public static boolean begin(int signo, int slackNanos) {
        return (int) Call.call(BEGIN, signo, slackNanos, 0) == 0;
    }

    /**
     * Gives the calling thread the process's attributes, as {@link #begin} does, and no attributes of its own. If there is no memory for
     * the call, the thread keeps its attributes.
     */
    public static void beginPlain() {
        try {
            boolean _ = begin(0, 0);
        } catch (OutOfMemoryError e) {
            return;
        }
    }

    /**
     * Returns whether threads that the calling thread creates have the process's CPUs and policy.
     *
     * @return false when the thread, or a thread from which it inherits, has set others
     */
    public static boolean isPlain() {
        return (int) Call.call(PLAIN) != 0;
    }

    /**
     * Restricts the calling thread to some CPUs, as {@link Affinity#set} does. If it has called {@link #begin} after {@link #hook}, threads
     * and processes that it creates do not inherit these CPUs.
     *
     * @param cpus the CPUs
     * @throws NativeException EINVAL when the thread may use none of the CPUs
     */
    public static void place(BitSet cpus) {
        long[] words = Affinity.words(cpus);
        long mask = Affinity.mask(words);
        try {
            int r = (int) Call.call(PLACE, mask, (long) words.length * Long.BYTES, 0);
            if (r < 0) {
                throw new NativeException("sched_setaffinity(0, " + cpus + ")", -r);
            }
        } finally {
            Memory.free(mask);
        }
    }

    /**
     * From now on, if a thread calls {@link #begin}, threads and processes that it creates do not inherit the attributes that the runtime
     * has set on it. This works by functions of ours, which have wrapped the JDK's since the library was loaded. May be repeated.
     *
     * @return false when gmp4j does not know the inside of this JVM; then nothing has changed
     */
    public static boolean hook() {
        return (int) Call.call(Call.function("gmp_thread_hook")) == 0;
    }
}
