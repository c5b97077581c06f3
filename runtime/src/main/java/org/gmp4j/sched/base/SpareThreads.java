// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler with many Ms keeps a few sleeping threads. So its Ms never use up the last threads that the system gives. When the system has
 * no thread for another M, the spare threads end. Then HotSpot can start the threads that it needs for shutdown hooks, for an answer to
 * {@code jcmd}, and for the handler of a SIGTERM. Without a thread for the handler it would ignore the SIGTERM. Each goroutine that blocks
 * in the kernel keeps an M. So a service whose disk does not answer reaches the limit of its container just when it has to be restarted.
 *
 * <p>The spare threads are started again before the next M. {@code Shortage} ensures that such attempts are rare.
 */
public final class SpareThreads implements Runnable {
    /** Up to this many Ms there are no spare threads. */
    private static final int FROM = 8;
    /** The number of spare threads, which is enough for the handler of a signal and two hooks. */
    private static final int COUNT = 3;

    private final long sched;
    private final String name;
    /** The latch at which the threads wait; null while there are none. Written under sched.lock. */
    private volatile @Nullable CountDownLatch held;

    SpareThreads(long sched, String name) {
        this.sched = sched;
        this.name = name;
    }

    /**
     * Makes the threads unless they exist. Called before an M is started.
     *
     * @throws OutOfMemoryError when one of the threads cannot be started; then none is kept
     */
    public void hold() {
        if (held != null || fewMs()) {
            return;
        }
        CountDownLatch fresh = new CountDownLatch(1);
        SchedLock.lock(sched);
        boolean theirs = held != null;
        held = theirs ? held : fresh;
        SchedLock.unlock(sched);
        if (theirs) {
            return; // Another thread starts them.
        }
        boolean all = false;
        try {
            for (int i = 0; i < COUNT; i++) {
                Thread t = new OwnThread(this, name + "-spare" + i);
                t.start();
            }
            all = true;
        } finally {
            if (!all) {
                letGo();
            }
        }
    }

    private boolean fewMs() {
        SchedLock.lock(sched);
        int n = Schedt.mcount(sched);
        SchedLock.unlock(sched);
        return n <= FROM;
    }

    /** Makes the threads end soon. Allocates nothing. */
    public void letGo() {
        SchedLock.lock(sched);
        CountDownLatch over = held;
        held = null;
        SchedLock.unlock(sched);
        if (over != null) {
            over.countDown();
        }
    }

    /** Waits at the latch, on a spare thread. A thread that begins late may find the latch of later threads, and then ends with them. */
    @Override
    public void run() {
        CountDownLatch over = held;
        try {
            if (over != null) {
                over.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // Only tools interrupt the thread, which then ends.
        }
    }
}
