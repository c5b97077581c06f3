package org.gmp4j.proc;

/** The Java side of a P. The stacks that dead goroutines left belong to the M that holds the P, the request to sysmon. */
final class Processor {
    private static final int LOCAL = 64;

    /** Its struct p. */
    final long pp;
    private final GStack[] free = new GStack[LOCAL];
    private int n;

    /** Sysmon's latest request to hand the P off, until it was answered. */
    final Request request = new Request();

    /** What sysmon asked, and what tells the answer. */
    static final class Request {
        /** The M that was asked; 0 for none. */
        long mp;
        /** The time slice, and the goroutine that had it. */
        int tick;
        long gp;
        long goid;
        /** When, by nanoTime. */
        long asked;
        /** Whether it ran; else it slept in the kernel. */
        boolean running;
        /** How often the M's handler had given a P up before. */
        long handoffs;
    }

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
