// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/**
 * Finds HotSpot's compiler threads by their names in {@code /proc}, and reads the CPU times, waits and nice values of threads. The JVM
 * starts and ends compiler threads as it needs them. Thread-safe.
 */
public final class CompilerThreads {
    private static final int MOST_COMPILERS = 256;
    private static final int MOST_THREADS = 1 << 16;
    /** The least nice value. {@link #nice} returns a lesser number for an error. */
    private static final int LEAST_NICE = -20;

    private static final Call.Function WAITED = Call.function("gmp_thread_waited");
    private static final Call.Function WANTED = Call.function("gmp_thread_wanted");
    private static final Call.Function PROCESS = Call.function("gmp_process_cpu");
    private static final Call.Function NICE = Call.function("gmp_nice");
    private static final Call.Function SET_NICE = Call.function("gmp_set_nice");

    private CompilerThreads() {
    }

    /**
     * Finds the compiler threads, also the idle ones.
     *
     * @return the kernel's thread ids; none where {@code /proc} cannot be read
     */
    public static int[] ids() {
        return threads("gmp_compiler_threads", MOST_COMPILERS, false);
    }

    /**
     * Finds the threads of the optimizing compiler: C2, or the JVMCI compiler in its place. C1's threads are left out, because C1's code is
     * ready soon and is several times as fast as the interpreter.
     *
     * @return the kernel's thread ids; none where {@code /proc} cannot be read, and in a JVM without such a compiler
     */
    public static int[] optimizing() {
        return threads("gmp_compiler_threads", MOST_COMPILERS, true);
    }

    /**
     * Finds all threads of this process.
     *
     * @return the kernel's thread ids; none where {@code /proc} cannot be read
     */
    public static int[] allIds() {
        return threads("gmp_threads", MOST_THREADS, false);
    }

    private static int[] threads(String function, int most, boolean optimizing) {
        long bytes = (long) most * Integer.BYTES;
        long ids = Memory.map(bytes);
        try {
            int n = (int) Call.call(Call.function(function), ids, most, optimizing ? 1 : 0);
            int[] found = new int[Math.max(0, n)];
            for (int i = 0; i < found.length; i++) {
                found[i] = Memory.getInt(ids + (long) i * Integer.BYTES);
            }
            return found;
        } finally {
            Memory.unmap(ids, bytes);
        }
    }

    /**
     * Returns how long a thread of this process has been runnable without a CPU since its start.
     *
     * @param tid the kernel's thread id
     * @return nanoseconds, or -1 when there is no such thread or the kernel does not count this time
     */
    public static long waitedNanos(int tid) {
        return Math.max(-1, Call.call(WAITED, tid));
    }

    /**
     * Returns how long a thread of this process has been runnable since its start, with or without a CPU.
     *
     * @param tid the kernel's thread id
     * @return nanoseconds, or -1 when there is no such thread or the kernel does not count this time
     */
    public static long wantedNanos(int tid) {
        return Math.max(-1, Call.call(WANTED, tid));
    }

    /** Returns the CPU time of this process, ns. */
    public static long processNanos() {
        return Call.call(PROCESS);
    }

    /**
     * Returns the nice value of a thread.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @return from -20 to 19; less when there is no such thread
     */
    public static int nice(int tid) {
        return (int) Call.call(NICE, tid);
    }

    /** Returns whether a result of {@link #nice} is a nice value, and not an error. */
    public static boolean isNice(int nice) {
        return nice >= LEAST_NICE;
    }

    /**
     * Sets the nice value of a thread. Any thread may raise it. To lower it requires CAP_SYS_NICE or a sufficient RLIMIT_NICE.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @param nice from -20 to 19
     * @return whether the kernel accepted it
     */
    public static boolean setNice(int tid, int nice) {
        return (int) Call.call(SET_NICE, tid, nice, 0) == 0;
    }

    /**
     * Returns how long the present compiler threads have been runnable since their start, with or without a CPU. If the kernel does not
     * count the waits, this is their CPU time alone.
     *
     * @return nanoseconds in total; 0 when there is no such thread
     */
    public static long wantedNanos() {
        long sum = 0;
        for (int id : ids()) {
            sum += Math.max(0, Math.max(wantedNanos(id), OsThread.cpuNanos(id)));
        }
        return sum;
    }
}
