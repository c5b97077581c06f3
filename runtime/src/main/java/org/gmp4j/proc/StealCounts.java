// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.struct.Mem;
import org.gmp4j.struct.PStat;

/**
 * The counters of Gs stolen, by thief and victim: a block for all Ps of a scheduler, a row for each thief, two cache lines
 * apart from the next. A page takes memory once somebody stole.
 */
final class StealCounts {
    private StealCounts() {
    }

    private static long rowBytes(int procs) {
        return ((long) procs * Long.BYTES + Mem.LINE - 1) / Mem.LINE * Mem.LINE;
    }

    /** How many bytes the block for so many Ps has, which begins as zeros. */
    static long bytes(int procs) {
        return procs * rowBytes(procs);
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
