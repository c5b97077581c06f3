// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.WaitReason;
import org.junit.jupiter.api.Test;

/** What ends a wait, at the moments that are hard to meet. The other tests are {@code EndingsTest} and {@code LockEndingsTest}. */
class WaitCancellationTest {
    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    private final WaitQ q = new WaitQ();
    private final CountDownLatch late = new CountDownLatch(1);
    private volatile Thread ender;

    /** The thread that ends the wait is held up before the lock. */
    private final class Slow extends WaitCancellation {
        Slow() {
            super(Limits.DEFAULT, lock);
        }

        @Override
        protected void lock() {
            if (Thread.currentThread() == ender) {
                try {
                    late.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            super.lock();
        }

        @Override
        protected boolean remove(long waiter) {
            return q.remove(waiter);
        }
    }

    private long dequeue() {
        for (;;) {
            lock.lock();
            long sg = q.dequeue();
            lock.unlock();
            if (sg != 0) {
                return sg;
            }
            Thread.yield();
        }
    }

    private boolean queued() {
        lock.lock();
        boolean any = !q.isEmpty();
        lock.unlock();
        return any;
    }

    /** An ender that comes when its wait is over, and the sudog waits again, leaves that alone. */
    @Test
    void theNextWaitIsLeftAlone() throws InterruptedException {
        Slow e = new Slow();
        boolean[] ended = new boolean[1];
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            long sg = Waiting.sudog(null);
            lock.lock();
            ended[0] = e.await(null, sg, q, lock, WaitReason.FOREVER);
            lock.lock();
            Waiting.await(null, sg, q, lock, WaitReason.FOREVER);
            Waiting.release(null, sg);
        });
        while (!queued()) {
            Thread.yield();
        }
        ender = Thread.ofPlatform().daemon().unstarted(e);
        ender.start();
        long sg = dequeue();
        Waiting.wake(sg);
        while (!queued()) {
            Thread.yield();
        }
        late.countDown();
        ender.join();
        lock.lock();
        long again = q.dequeue();
        lock.unlock();
        assertEquals(sg, again, "taken out by one that was late");
        Waiting.wake(again);
        waiter.join();
        assertFalse(ended[0]);
    }
}
