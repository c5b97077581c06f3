// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** A lock of the JDK's in rewritten code, which makes {@code new LaneLock} of {@code new ReentrantLock}: lanes own it. */
public final class LaneLock extends ReentrantLock {
    private static final long serialVersionUID = 1L;
    private transient Thread owner;
    private int times;

    /** Makes one. */
    public LaneLock() {
    }

    void reset() {
        owner = null;
        times = 0;
    }

    @Override
    public boolean tryLock() {
        World.writes(this, Sites.MONITOR);
        Thread t = World.currentThread();
        Digest.reads(times > 0 && owner != t ? 1 : 0);
        if (times > 0 && owner != t) {
            return false;
        }
        owner = t;
        count(times + 1);
        return true;
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
        return tryLock(); // As if the time were up at once.
    }

    @Override
    public void lock() {
        while (!tryLock()) {
            World.pause();
        }
    }

    @Override
    public void lockInterruptibly() {
        lock();
    }

    @Override
    public void unlock() {
        World.writes(this, Sites.MONITOR);
        if (World.currentThread() != owner) {
            throw new IllegalMonitorStateException();
        }
        count(times - 1);
    }

    private void count(int n) {
        times = n;
        Digest.put(this, 0, n == 0 ? null : owner);
        Digest.put(this, 1, n);
    }

    @Override
    public boolean isHeldByCurrentThread() {
        boolean held = times > 0 && World.currentThread() == owner;
        Digest.reads(held ? 1 : 0);
        return held;
    }
}
