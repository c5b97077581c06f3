// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.util.List;

/**
 * The segments that were allocated at one place and not freed.
 *
 * @param count the number of segments
 * @param bytes the sum of their requested sizes
 * @param site the place where they were allocated, innermost frame first; the allocator's own frames are left out
 */
public record Leak(int count, long bytes, List<StackTraceElement> site) {
    /**
     * Makes the record with a copy of the list.
     *
     * @param site the place
     */
    public Leak {
        site = List.copyOf(site);
    }

    /** Returns a line for the count, and one for each frame. */
    @Override
    public String toString() {
        return new StringBuilder().append(count).append(count == 1 ? " segment, " : " segments, ").append(bytes)
                .append(" bytes, allocated").append(text(site)).toString();
    }

    static String text(List<StackTraceElement> site) {
        StringBuilder s = new StringBuilder();
        for (StackTraceElement e : site) {
            s.append("\n\tat ").append(e);
        }
        return s.toString();
    }
}
