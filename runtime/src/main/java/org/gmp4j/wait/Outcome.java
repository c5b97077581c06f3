// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.lang.ref.Reference;
import java.util.concurrent.Callable;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.sched.Awaited;
import org.gmp4j.sched.GStack;
import org.gmp4j.stack.EndLatch;
import org.gmp4j.stack.Goexit;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/** A goroutine that a caller waits for, and its result. The goroutine writes the result, and the waiter reads it. */
public final class Outcome<T> extends Awaited {
    private final Callable<T> fn;
    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    private final WaitQ waiters = new WaitQ();
    private final EndLatch latch = new EndLatch();
    private boolean done;
    private @Nullable T result;
    private @Nullable Throwable thrown;

    /** Makes the outcome of a goroutine that calls {@code fn} and has not started. */
    public Outcome(Callable<T> fn) {
        this.fn = fn;
    }

    @Override
    public void run() {
        try {
            result = fn.call();
        } catch (Throwable t) {
            throw WaitCancellation.<RuntimeException>sneaky(t);
        }
    }

    @Override
    protected void ended(@Nullable Throwable end) {
        if (end != null && end != Goexit.INSTANCE) {
            thrown = end;
        }
        latch.open();
        GStack st = GStack.enterChecked(); // This is the bottom of the goroutine's stack, which has room.
        lock.lock();
        done = true;
        long sg = waiters.dequeue();
        lock.unlock();
        if (sg != 0) {
            Waiting.wake(sg);
            Reference.reachabilityFence(lock); // See Hchan.wake.
        }
        GStack.exit(st);
    }

    /** Waits until the goroutine has ended. Returns its result, or throws its exception. */
    public @Nullable T get() {
        if (GStack.current() != null) {
            await();
        } else {
            // Bystanders knows that a thread at a latch readies no goroutine. A wait by Waiting would delay the report of a deadlock.
            latch.await();
        }
        if (thrown != null) {
            throw WaitCancellation.<RuntimeException>sneaky(thrown);
        }
        return result;
    }

    private void await() {
        GStack st = GStack.enter();
        try {
            for (boolean over = false; !over;) { // The goroutine has started, so the caller must wait, even without memory for a sudog.
                long sg = Waiting.sudogOrNap(st);
                lock.lock();
                over = done || sg != 0;
                if (done || sg == 0) {
                    lock.unlock();
                } else {
                    Waiting.await(st, sg, waiters, lock, WaitReason.RUN);
                }
                if (sg != 0) {
                    Waiting.release(st, sg);
                }
            }
        } finally {
            GStack.exit(st);
        }
    }
}
