// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The counters of Gs stolen, by thief and victim: a block for all Ps of a scheduler, with a row for each thief, two cache lines
 * apart from the next. A page of it takes memory only once there was a steal.
 */
public final class StealCounts {
    private StealCounts() {
    }

    private static long rowBytes(int procs) {
        return ((long) procs * Long.BYTES + Mem.LINE - 1) / Mem.LINE * Mem.LINE;
    }

    /** The size of the block for {@code procs} Ps, in bytes; it begins as zeros. */
    public static long bytes(int procs) {
        return procs * rowBytes(procs);
    }

    /**
     * Has a P count in its row of {@code block}, to which what it has counted so far is copied; world stopped. Needs no memory.
     *
     * @param i the number of {@code pp}
     * @param procs how many Ps the block is for
     * @param old how many Ps there were before
     */
    public static void use(long pp, int i, long block, int procs, int old) {
        long row = block + i * rowBytes(procs);
        for (int victim = 0; i < old && victim < old; victim++) {
            long n = PStat.stolenFrom(pp, victim);
            if (n != 0) {
                Mem.LONG.set(row + (long) victim * Long.BYTES, n);
            }
        }
        PStat.setStolenFrom(pp, row);
    }
}
