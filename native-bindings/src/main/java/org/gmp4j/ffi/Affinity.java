// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/** Which CPUs a thread may run on. CPU numbers are the kernel's, from 0, of any size. Thread-safe. */
public final class Affinity {
    private static final Call.Function GET = Call.function("gmp_affinity_get");
    private static final Call.Function GETCPU = Call.function("gmp_getcpu");

    /** Bytes of a glibc cpu_set_t: a mask of this size is right for nearly every machine. */
    private static final int USUAL_BYTES = 128;

    /** Half a million CPUs: beyond this the kernel must be wrong. */
    private static final int MAX_BYTES = 64 << 10;

    private Affinity() {
    }

    /**
     * Restricts a thread to some CPUs. Takes effect before the call returns: the thread is moved if need be. CPUs that
     * do not exist, or that the cpuset does not grant, are left out by the kernel without a word as long as one
     * remains.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @param cpus the CPUs
     * @throws NativeException EINVAL when none of the CPUs can be had, ESRCH when there is no such thread,
     *     EPERM when it belongs to someone else
     */
    public static void set(int tid, BitSet cpus) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = mask(cpus, arena);
            int r = (int) Call.call(Call.function("gmp_affinity_set"), tid, mask.byteSize(), mask.address());
            if (r < 0) {
                throw new NativeException("sched_setaffinity(" + tid + ", " + cpus + ")", -r);
            }
        }
    }

    /** The set as the kernel takes it. */
    static MemorySegment mask(BitSet cpus, Arena arena) {
        byte[] bits = cpus.toByteArray();
        MemorySegment mask = arena.allocate(Math.max(USUAL_BYTES, (bits.length + 7) & -8), 8);
        MemorySegment.copy(MemorySegment.ofArray(bits), 0, mask, 0, bits.length);
        return mask;
    }

    /**
     * The CPUs that a thread may run on.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @return a new set
     * @throws NativeException ESRCH when there is no such thread
     */
    public static BitSet get(int tid) {
        // The kernel answers EINVAL to a mask that is too small for this machine.
        for (int bytes = USUAL_BYTES; ; bytes *= 2) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment mask = arena.allocate(bytes, 8);
                int r = (int) Call.call(GET, tid, bytes, mask.address());
                if (r >= 0) {
                    return BitSet.valueOf(mask.asByteBuffer());
                }
                if (r != -Errno.EINVAL || bytes >= MAX_BYTES) {
                    throw new NativeException("sched_getaffinity(" + tid + ")", -r);
                }
            }
        }
    }

    /**
     * The CPUs that the process may use: those of its first thread.
     *
     * @return a new set, never empty
     * @throws NativeException when the kernel refuses
     */
    public static BitSet ofProcess() {
        return orOwn(get(OsThread.getpid()));
    }

    /**
     * When all CPUs of the first thread have gone offline there is none: the kernel gives a thread others when it wakes it, and a
     * JVM's first thread sleeps for ever. The calling thread runs, so it has got some.
     */
    static BitSet orOwn(BitSet first) {
        return first.isEmpty() ? get(0) : first;
    }

    /**
     * The CPU that the calling thread runs on at this moment; a hint, unless it is pinned.
     *
     * @return the CPU's number
     */
    public static int currentCpu() {
        return (int) Call.critical(GETCPU);
    }
}
