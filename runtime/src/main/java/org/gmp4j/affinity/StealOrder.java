// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.util.Locale;

/** The order in which a thread without work searches the queues of other Ps. Immutable. */
public enum StealOrder {
    /** Every P as likely as any other to be the next: Go's order, and the default. Needs no placement. */
    UNIFORM,

    /**
     * The Ps of the same core first, then of the same cache, node, package, and the others last; within each of these uniform. One
     * search in sixteen is uniform, so that work of distant Ps is found even if near Ps always have some.
     */
    NEAREST,

    /**
     * Three times, two Ps at random, and a theft from the one with more work; then, if none of the six had any, one uniform walk over
     * all. Reads fewer queues if most Ps have work, and steals larger shares. Needs no placement.
     */
    TWO;

    /**
     * Reads an order from the command line.
     *
     * @param text {@code uniform}, {@code nearest} or {@code two}, in any case
     * @return the order
     * @throws IllegalArgumentException when it is none of these
     */
    public static StealOrder parse(String text) {
        for (StealOrder order : values()) {
            if (order.toString().equals(text.strip().toLowerCase(Locale.ROOT))) {
                return order;
            }
        }
        throw new IllegalArgumentException("steal order \"" + text + "\" is unknown: use uniform, nearest or two");
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
