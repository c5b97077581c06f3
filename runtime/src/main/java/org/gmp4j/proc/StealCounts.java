// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

import org.gmp4j.ffi.Memory;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.PStat;

/**
 * The counters of Gs stolen, by thief and victim: a block for all Ps of a scheduler, a row for each thief, two cache lines
 * apart from the next. Like structs, blocks are reused and never unmapped: whoever reads counters of a scheduler that is being closed reads
 * something, and does not fault. A page takes memory once somebody stole.
 */
final class StealCounts {
    private static final Map<Integer, ArrayDeque<Long>> FREE = new HashMap<>();

    private StealCounts() {
    }

    private static long rowBytes(int procs) {
        return ((long) procs * Long.BYTES + Mem.LINE - 1) / Mem.LINE * Mem.LINE;
    }

    /** A block of zeros for so many Ps. On any stack, without locks. */
    static long take(int procs) {
        JdkThreads.pin();
        try {
            synchronized (FREE) {
                ArrayDeque<Long> free = FREE.get(procs);
                if (free == null || free.isEmpty()) {
                    return Memory.map(procs * rowBytes(procs));
                }
                long block = free.getLast();
                Memory.advise(block, procs * rowBytes(procs), Memory.ADVICE_DONTNEED); // Zeros, and no memory taken.
                free.removeLast();
                return block;
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Gives a block back. Without memory for that it is lost, as some structs are. */
    static void give(long block, int procs) {
        JdkThreads.pin();
        try {
            synchronized (FREE) {
                FREE.computeIfAbsent(procs, n -> new ArrayDeque<>()).add(block);
            }
        } catch (OutOfMemoryError e) {
            return;
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Has the Ps count in {@code block}, going on from what the first {@code old} of them have counted; world stopped. Needs no memory. */
    static void use(Processor[] procs, long block, int old) {
        for (int i = 0; i < procs.length; i++) {
            long pp = procs[i].pp;
            long row = block + i * rowBytes(procs.length);
            for (int victim = 0; i < old && victim < old; victim++) {
                long n = PStat.stolenFrom(pp, victim);
                if (n != 0) {
                    Mem.LONG.set(row + (long) victim * Long.BYTES, n);
                }
            }
            PStat.setStolenFrom(pp, row);
        }
    }
}
