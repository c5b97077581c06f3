// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.BitSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sets of CPUs as the kernel writes them. */
public final class Cpus {
    private static final Pattern ITEM = Pattern.compile("([0-9]{1,6})(?:-([0-9]{1,6}))?");

    private Cpus() {
    }

    /** Reads what {@link #list} writes; returns an empty set for a text that is no list. */
    public static BitSet parse(String list) {
        BitSet set = new BitSet();
        for (String item : list.split(",", -1)) {
            Matcher m = ITEM.matcher(item);
            if (!m.matches()) {
                return new BitSet();
            }
            int first = Integer.parseInt(m.group(1));
            int last = m.group(2) == null ? first : Integer.parseInt(m.group(2));
            if (last < first) {
                return new BitSet();
            }
            set.set(first, last + 1);
        }
        return set;
    }

    /** Writes a set such as 0-3,8. */
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
