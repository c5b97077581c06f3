// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Wakes a selector at a time that is finer than the milliseconds of {@link Selector#select(long)}. */
final class Alarm implements AutoCloseable {
    private static final long NONE = Long.MIN_VALUE;

    private final Selector selector;
    private final Thread thread;
    /** By nanoTime; {@link #NONE} while nothing is asked for. Written by the selector's thread, taken back by this alarm's. */
    private final AtomicLong at = new AtomicLong(NONE);
    private volatile boolean closed;

    Alarm(Selector selector) {
        this.selector = selector;
        thread = Thread.ofPlatform().name("gmp-try-alarm").daemon().start(this::run);
    }

    /** Asks for a wake-up at a time by nanoTime; the last time asked for counts. */
    void set(long time) {
        if (at.getPlain() != time) {
            at.set(time);
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        while (!closed) {
            long time = at.get();
            long gap = time - System.nanoTime();
            if (time == NONE) {
                LockSupport.park(this);
            } else if (gap > 0) {
                LockSupport.parkNanos(this, gap);
            } else if (at.compareAndSet(time, NONE)) {
                selector.wakeup();
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
