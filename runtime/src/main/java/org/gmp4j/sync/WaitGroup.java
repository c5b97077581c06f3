package org.gmp4j.sync;

import java.util.Objects;

import org.gmp4j.Go;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.proc.Waiting;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.Sudog;

/**
 * Waits for a number of goroutines to be done. Thread-safe, from goroutines and plain threads. What is done before
 * {@link #done} happens before the return of the {@link #await} it lets go. Source: Go's {@code sync.WaitGroup}.
 */
public final class WaitGroup {
    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    private final WaitQ waiters = new WaitQ();
    private int count;

    /** A group with nothing to wait for. */
    public WaitGroup() {
    }

    /**
     * Adds {@code delta}, which may be negative, to the counter; at 0 lets the waiters go.
     *
     * @throws IllegalStateException "sync: negative WaitGroup counter"
     */
    public void add(int delta) {
        GStack st = GStack.enter();
        try {
            add0(delta);
        } finally {
            GStack.exit(st);
        }
    }

    private void add0(int delta) {
        lock.lock();
        int n = count + delta;
        if (n < 0) {
            lock.unlock();
            throw new IllegalStateException("sync: negative WaitGroup counter");
        }
        count = n;
        long list = 0;
        if (n == 0) {
            for (long sg = waiters.dequeue(); sg != 0; sg = waiters.dequeue()) {
                Sudog.setWaitlink(sg, list);
                list = sg;
            }
        }
        lock.unlock();
        while (list != 0) {
            long sg = list;
            list = Sudog.waitlink(sg);
            Waiting.wake(sg);
        }
    }

    /** {@code add(-1)}. */
    public void done() {
        add(-1);
    }

    /** Waits until the counter is 0. */
    public void await() {
        GStack st = GStack.enter();
        lock.lock();
        if (count == 0) {
            lock.unlock();
        } else {
            Waiting.release(Waiting.await(waiters, lock, null, WaitReason.WAIT_GROUP));
        }
        GStack.exit(st);
    }

    /** Counts one more, runs {@code fn} as a goroutine of the caller's scheduler, and counts it done when it ends. */
    public void go(Runnable fn) {
        Objects.requireNonNull(fn, "go of nil func value");
        add(1);
        Go.go(() -> {
            Go.defer(this::done);
            fn.run();
        });
    }
}
