// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.util.Locale;

/** The order in which a thread without work searches the queues of other Ps. Immutable. */
public enum StealOrder {
    /** A random order in which all Ps have the same chance. It is Go's order and the default. */
    UNIFORM,

    /**
     * The nearest Ps first: the Ps of the same core, then of the same cache, NUMA node, and package, and then all others. The order within
     * each of these groups is random. One search in sixteen is {@link #UNIFORM}, so that distant work is found even if near Ps always have
     * work. This order needs an affinity other than {@link Affinity#none()}.
     */
    NEAREST,

    /**
     * Up to three times the thread chooses two Ps at random, and tries the one with the longer queue first. If no chosen P has work, it
     * visits all Ps once in {@link #UNIFORM} order. If most Ps have work, this order reads fewer queues and steals more at a time.
     */
    TWO;

    /**
     * Reads an order from the command line.
     *
     * @param text {@code uniform}, {@code nearest} or {@code two}, in any case
     * @throws IllegalArgumentException when {@code text} is none of these
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
