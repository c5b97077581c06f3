// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The counters of stolen Gs, by thief and victim. Each scheduler has one block with a row for each thief. A row is aligned to two cache
 * lines. A page of the block takes memory only once a steal is counted in it.
 */
public final class StealCounts {
    private StealCounts() {
    }

    private static long rowBytes(int procs) {
        return ((long) procs * Long.BYTES + Mem.LINE - 1) / Mem.LINE * Mem.LINE;
    }

    /** Returns the size of the block for {@code procs} Ps, in bytes. A new block has to be zeroed. */
    public static long bytes(int procs) {
        return procs * rowBytes(procs);
    }

    /**
     * Assigns a P its row of {@code block}, and copies its present counts there. Called with the world stopped. Allocates nothing.
     *
     * @param i the id of {@code pp}
     * @param procs the number of Ps of the block
     * @param old the number of Ps of the present block
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
