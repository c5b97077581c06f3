// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * HotSpot's compiler threads, as the kernel sees them, and what threads get of the CPUs. The JVM starts and ends compiler threads as it
 * needs them. Thread-safe.
 */
public final class CompilerThreads {
    private static final int MOST_COMPILERS = 256;
    private static final int MOST_THREADS = 1 << 16;
    /** The C functions give an error number as less than the least nice value. */
    private static final int LEAST_NICE = -20;

    private CompilerThreads() {
    }

    /**
     * The threads that compile, those that have nothing to do at the moment included.
     *
     * @return the kernel's thread ids; none where {@code /proc} cannot be read
     */
    public static int[] ids() {
        return threads("gmp_compiler_threads", MOST_COMPILERS, false);
    }

    /**
     * Those of {@link #ids} that optimize: C2's, or what takes its place. C1's, whose code is ready soon and is several times as fast as
     * the interpreter, are left out.
     *
     * @return the kernel's thread ids; none where {@code /proc} cannot be read, and in a JVM without such a compiler
     */
    public static int[] optimizing() {
        return threads("gmp_compiler_threads", MOST_COMPILERS, true);
    }

    /**
     * All threads of this process.
     *
     * @return the kernel's thread ids; none where {@code /proc} cannot be read
     */
    public static int[] allIds() {
        return threads("gmp_threads", MOST_THREADS, false);
    }

    private static int[] threads(String function, int most, boolean optimizing) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ids = arena.allocate(ValueLayout.JAVA_INT, most);
            int n = (int) Call.call(Call.function(function), ids.address(), most, optimizing ? 1 : 0);
            int[] found = new int[Math.max(0, n)];
            for (int i = 0; i < found.length; i++) {
                found[i] = ids.getAtIndex(ValueLayout.JAVA_INT, i);
            }
            return found;
        }
    }

    /**
     * For how long a thread of this process has waited for a CPU since it began.
     *
     * @param tid the kernel's thread id
     * @return nanoseconds, or -1 when there is no such thread, or the kernel does not count that
     */
    public static long waitedNanos(int tid) {
        return Math.max(-1, Call.call(Call.function("gmp_thread_waited"), tid));
    }

    /**
     * How long a thread of this process has had a CPU or waited for one since it began.
     *
     * @param tid the kernel's thread id
     * @return nanoseconds, or -1 when there is no such thread, or the kernel does not count that
     */
    public static long wantedNanos(int tid) {
        return Math.max(-1, Call.call(Call.function("gmp_thread_wanted"), tid));
    }

    /** The CPU time of this process, ns. */
    public static long processNanos() {
        return Call.call(Call.function("gmp_process_cpu"));
    }

    /**
     * The nice value of a thread.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @return from -20 to 19; less when there is no such thread
     */
    public static int nice(int tid) {
        return (int) Call.call(Call.function("gmp_nice"), tid);
    }

    /** Whether {@link #nice} has found the thread. */
    public static boolean isNice(int nice) {
        return nice >= LEAST_NICE;
    }

    /**
     * Sets the nice value of a thread. Anybody may raise it; to lower it takes CAP_SYS_NICE or a limit RLIMIT_NICE.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @param nice from -20 to 19
     * @return whether the kernel took it
     */
    public static boolean setNice(int tid, int nice) {
        return (int) Call.call(Call.function("gmp_set_nice"), tid, nice, 0) == 0;
    }

    /**
     * How long the compiler threads which there are now have had a CPU or waited for one since they began. Where the kernel does not count
     * the waits, their CPU time alone.
     *
     * @return nanoseconds; 0 when there is no such thread
     */
    public static long wantedNanos() {
        long sum = 0;
        for (int id : ids()) {
            sum += Math.max(0, Math.max(wantedNanos(id), OsThread.cpuNanos(id)));
        }
        return sum;
    }
}
