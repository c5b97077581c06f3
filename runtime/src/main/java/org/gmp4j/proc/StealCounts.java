// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.struct.Mem;
import org.gmp4j.struct.PStat;

/**
 * The counters of Gs stolen, by thief and victim: a block for all Ps of a scheduler, with a row for each thief, two cache lines
 * apart from the next. A page of it takes memory only once there was a steal.
 */
final class StealCounts {
    private StealCounts() {
    }

    private static long rowBytes(int procs) {
        return ((long) procs * Long.BYTES + Mem.LINE - 1) / Mem.LINE * Mem.LINE;
    }

    /** The size of the block for {@code procs} Ps, in bytes; it begins as zeros. */
    static long bytes(int procs) {
        return procs * rowBytes(procs);
    }

    /** Has the Ps count in {@code block}, to which the counts of the first {@code old} Ps are copied; world stopped. Needs no memory. */
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
