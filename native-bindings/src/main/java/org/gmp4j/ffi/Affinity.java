// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.util.Arrays;
import java.util.BitSet;

/** Gets and sets the CPUs on which a thread may run. CPU numbers are the kernel's, from 0, and may exceed 1,023. Thread-safe. */
public final class Affinity {
    private static final Call.Function SET = Call.function("gmp_affinity_set");
    private static final Call.Function GET = Call.function("gmp_affinity_get");
    private static final Call.Function GETCPU = Call.function("gmp_getcpu");

    /** The size of a glibc cpu_set_t, which is enough for nearly every machine. */
    private static final int USUAL_BYTES = 128;

    /** A mask for half a million CPUs. A kernel that refuses it as too small has a bug. */
    private static final int MAX_BYTES = 64 << 10;

    private Affinity() {
    }

    /**
     * Restricts a thread to some CPUs. If it runs on another CPU, the kernel moves it before the call returns. The kernel ignores CPUs
     * that do not exist or that the cpuset does not grant, as long as one CPU remains.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @param cpus the CPUs
     * @throws NativeException EINVAL when the thread may use none of the CPUs, ESRCH when there is no such thread,
     *     EPERM when it belongs to another user
     */
    public static void set(int tid, BitSet cpus) {
        long[] words = words(cpus);
        long mask = mask(words);
        try {
            int r = (int) Call.call(SET, tid, (long) words.length * Long.BYTES, mask);
            if (r < 0) {
                throw new NativeException("sched_setaffinity(" + tid + ", " + cpus + ")", -r);
            }
        } finally {
            Memory.free(mask);
        }
    }

    /** Allocates zeroed memory by {@link Memory#malloc}. */
    private static long block(int bytes) {
        long block = Memory.malloc(bytes);
        if (block == 0) {
            throw new OutOfMemoryError("no memory for a mask of CPUs");
        }
        Memory.clear(block, bytes);
        return block;
    }

    /** Returns the set as the words of a mask, at least {@link #USUAL_BYTES}. */
    static long[] words(BitSet cpus) {
        long[] words = cpus.toLongArray();
        return Arrays.copyOf(words, Math.max(USUAL_BYTES / Long.BYTES, words.length));
    }

    /** Copies the words to memory of {@link Memory#malloc}, as a mask for the kernel. */
    static long mask(long[] words) {
        long mask = block(words.length * Long.BYTES);
        for (int i = 0; i < words.length; i++) {
            Memory.setLong(mask + (long) i * Long.BYTES, words[i]);
        }
        return mask;
    }

    /**
     * Returns the CPUs on which a thread may run.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @return a new set
     * @throws NativeException ESRCH when there is no such thread
     */
    public static BitSet get(int tid) {
        // The kernel answers EINVAL to a mask that is too small for this machine.
        for (int bytes = USUAL_BYTES; ; bytes *= 2) {
            long mask = block(bytes);
            try {
                int r = (int) Call.call(GET, tid, bytes, mask);
                if (r >= 0) {
                    return set(mask, bytes);
                }
                if (r != -Errno.EINVAL || bytes >= MAX_BYTES) {
                    throw new NativeException("sched_getaffinity(" + tid + ")", -r);
                }
            } finally {
                Memory.free(mask);
            }
        }
    }

    private static BitSet set(long mask, int bytes) {
        long[] words = new long[bytes / Long.BYTES];
        for (int i = 0; i < words.length; i++) {
            words[i] = Memory.getLong(mask + (long) i * Long.BYTES);
        }
        return BitSet.valueOf(words);
    }

    /**
     * Returns the CPUs that the process may use: its first thread's, or if these are all offline, the calling thread's.
     *
     * @return a new set, never empty
     * @throws NativeException when the kernel refuses
     */
    public static BitSet ofProcess() {
        return orOwn(get(OsThread.getpid()));
    }

    /**
     * Returns the first thread's CPUs, or the calling thread's if that set is empty: all of its CPUs are offline then. The kernel assigns
     * other CPUs only when it wakes a thread, and a JVM's first thread sleeps for ever. The calling thread runs, so it has a CPU.
     */
    static BitSet orOwn(BitSet first) {
        return first.isEmpty() ? get(0) : first;
    }

    /**
     * Returns the CPU on which the calling thread runs at this moment. The number is only a hint, unless the thread is pinned.
     *
     * @return the CPU's number
     */
    public static int currentCpu() {
        return (int) Call.critical(GETCPU);
    }
}
