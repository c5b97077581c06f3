// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/** A semaphore of the JDK's in rewritten code, which makes {@code new Permits} of {@code new Semaphore}: it blocks lanes. */
public final class Permits extends java.util.concurrent.Semaphore {
    private static final long serialVersionUID = 1L;
    private final int first;
    private int permits;

    /** Makes one. */
    public Permits(int permits) {
        super(0);
        first = permits;
        this.permits = permits;
    }

    void reset() {
        permits = first;
    }

    @Override
    public void acquireUninterruptibly() {
        acquireUninterruptibly(1);
    }

    @Override
    public void acquireUninterruptibly(int n) {
        World.writes(this, Sites.MONITOR);
        while (permits < n) {
            World.pause();
        }
        set(permits - n);
    }

    private void set(int n) {
        permits = n;
        Digest.put(this, 0, n - first);
    }

    @Override
    public boolean tryAcquire() {
        World.writes(this, Sites.MONITOR);
        Digest.reads(permits == 0 ? 0 : 1);
        if (permits == 0) {
            return false;
        }
        set(permits - 1);
        return true;
    }

    @Override
    public void release() {
        World.writes(this, Sites.MONITOR);
        set(permits + 1);
    }
}
