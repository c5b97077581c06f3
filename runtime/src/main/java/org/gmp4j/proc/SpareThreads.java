// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * A few sleeping threads that a scheduler with many Ms keeps, so that its Ms never use up the last threads that the system gives. When the
 * system has no thread for another M, these end, so that HotSpot can start the threads it needs: for the handler of a SIGTERM, which it
 * would ignore otherwise, for the program's shutdown hooks, for an answer to {@code jcmd}. Each goroutine that blocks in the kernel
 * keeps an M, so a service whose disk does not answer reaches the limit of its container, and that is when it has to be restarted.
 *
 * <p>They are made again before the next M is; {@link Shortage} sees to it that this is not tried often.
 */
final class SpareThreads implements Runnable {
    /** With fewer Ms it holds none. */
    private static final int FROM = 8;
    /** The handler of a signal and two hooks. */
    private static final int COUNT = 3;

    private final long sched;
    private final String name;
    /** What the threads wait for; null while there are none. Written under sched.lock. */
    private volatile @Nullable CountDownLatch held;

    /** None yet, for the scheduler of that name. */
    SpareThreads(long sched, String name) {
        this.sched = sched;
        this.name = name;
    }

    /**
     * Before an M is started: makes the threads unless they are there.
     *
     * @throws OutOfMemoryError when one cannot be had; none is kept then
     */
    void hold() {
        if (held != null || fewMs()) {
            return;
        }
        CountDownLatch fresh = new CountDownLatch(1);
        SchedLock.lock(sched);
        boolean theirs = held != null;
        held = theirs ? held : fresh;
        SchedLock.unlock(sched);
        if (theirs) {
            return; // Another M starts them.
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

    /** Has them end soon. Takes no memory. */
    void letGo() {
        SchedLock.lock(sched);
        CountDownLatch over = held;
        held = null;
        SchedLock.unlock(sched);
        if (over != null) {
            over.countDown();
        }
    }

    /** What they run. A thread that begins late may find the latch of later ones, and ends with those. */
    @Override
    public void run() {
        CountDownLatch over = held;
        try {
            if (over != null) {
                over.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // Only tools interrupt it: one spare thread less.
        }
    }
}
