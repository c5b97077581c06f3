// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

/** The Java side of a P, with the free stacks that dead goroutines left, which only the M that holds the P touches. */
public final class Processor {
    private static final int LOCAL = 64;

    /** Its struct p. */
    public final long pp;
    /** What sysmon knows of this P. */
    public final Monitor.Watched watched;
    private final GStack[] free = new GStack[LOCAL];
    private int n;

    Processor(long pp, Monitor monitor) {
        this.pp = pp;
        watched = monitor.ofP();
    }

    /** A free stack, or null. */
    GStack take() {
        if (n == 0) {
            return null;
        }
        GStack st = free[--n];
        free[n] = null;
        return st;
    }

    /** Keeps a free stack; false when there are enough. */
    boolean give(GStack st) {
        if (n == LOCAL) {
            return false;
        }
        free[n++] = st;
        return true;
    }

    /** Drops all free stacks; the collector takes them. */
    void trim() {
        while (take() != null) {
            // Dropped.
        }
    }
}
