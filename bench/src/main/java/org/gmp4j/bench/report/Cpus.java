// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.BitSet;

/** Sets of CPUs as the kernel writes them. */
public final class Cpus {
    private Cpus() {
    }

    /** 0-3,8 */
    public static String list(BitSet set) {
        StringBuilder text = new StringBuilder();
        for (int first = set.nextSetBit(0); first >= 0; ) {
            int last = set.nextClearBit(first) - 1;
            text.append(text.isEmpty() ? "" : ",").append(first).append(last > first ? "-" + last : "");
            first = set.nextSetBit(last + 1);
        }
        return text.toString();
    }
}
