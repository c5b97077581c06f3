package org.gmp4j.proc;

/** The Java side of a P: the stacks that dead goroutines left. Belongs to the M that holds the P. */
final class Processor {
    private static final int LOCAL = 64;

    /** Its struct p. */
    final long pp;
    private final GStack[] free = new GStack[LOCAL];
    private int n;

    Processor(long pp) {
        this.pp = pp;
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
