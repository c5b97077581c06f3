// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.util.BitSet;

import org.jspecify.annotations.Nullable;

/** The kernel's text form of a set of CPUs or nodes, in ascending order: {@code 0-3,8,10-11}. */
final class CpuList {
    /** The greatest number that is accepted. No kernel has so many CPUs or nodes. */
    private static final int MAX_NUMBER = 1 << 20;

    private CpuList() {
    }

    /** Returns the set of a text of the kernel; the empty set for null and for text of another form. */
    static BitSet parse(@Nullable String text) {
        BitSet set = new BitSet();
        if (text == null || text.isBlank()) {
            return set;
        }
        int least = 0; // The least start of the next range. Overlapping long ranges of a broken text would take long to set.
        for (String item : text.strip().split(",")) {
            int dash = item.indexOf('-');
            int first = number(dash < 0 ? item : item.substring(0, dash));
            int last = dash < 0 ? first : number(item.substring(dash + 1));
            if (first < least || last < first) {
                return new BitSet();
            }
            set.set(first, last + 1);
            least = last + 1;
        }
        return set;
    }

    /** Returns a number from 0 to {@link #MAX_NUMBER}, or -1. */
    static int number(String digits) {
        if (digits.isEmpty() || digits.length() > 9 || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return -1;
        }
        int n = Integer.parseInt(digits);
        return n <= MAX_NUMBER ? n : -1;
    }

    static String format(BitSet set) {
        return format(set.stream().toArray());
    }

    /** Returns the text of the numbers in the given order; successive numbers make a range. */
    static String format(int[] numbers) {
        StringBuilder text = new StringBuilder();
        for (int i = 0, end; i < numbers.length; i = end) {
            end = i + 1;
            while (end < numbers.length && numbers[end] == numbers[end - 1] + 1) {
                end++;
            }
            text.append(text.isEmpty() ? "" : ",").append(numbers[i]);
            if (end - i > 1) {
                text.append('-').append(numbers[end - 1]);
            }
        }
        return text.toString();
    }
}
