// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

/** Fills the heap to the last object. */
public final class Ballast {
    private static final int LARGEST = 1 << 16;
    private static volatile Object[] kept;

    private Ballast() {
    }

    /** Fills it, or what has become free since the last call, until {@link #drop}. */
    public static void fill() {
        Object[] head = kept;
        for (int size = LARGEST; size >= 16;) {
            try {
                head = new Object[] {head, new byte[size]};
                kept = head;
            } catch (OutOfMemoryError e) {
                size /= 4;
            }
        }
    }

    public static void drop() {
        kept = null;
    }
}
