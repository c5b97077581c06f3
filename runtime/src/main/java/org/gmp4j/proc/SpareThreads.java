// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.lock.SchedLock;

/**
 * A few threads that sleep, held by a scheduler with many Ms, so that its Ms are never the last threads that the system gives. When there
 * is none for another M these end, and HotSpot can start what it starts threads for: the handler of a SIGTERM, which it ignores otherwise,
 * the program's shutdown hooks, an answer to {@code jcmd}. Each goroutine that blocks in the kernel keeps an M, so a service
 * whose disk does not answer comes to the limit of its container, and is to be restarted just then.
 *
 * <p>Before the next M is made, these are: {@link Shortage} sees to it that this is not tried often.
 */
final class SpareThreads implements Runnable {
    /** With fewer Ms it holds none. */
    private static final int FROM = 8;
    /** The handler of a signal and two hooks. */
    private static final int COUNT = 3;

    private final Scheduler s;
    /** What those wait for that are held; null while none are. Written under sched.lock. */
    private volatile CountDownLatch held;

    SpareThreads(Scheduler s) {
        this.s = s;
    }

    /**
     * Before an M is started: sees to it that they are there.
     *
     * @throws OutOfMemoryError when one cannot be had; none is held then
     */
    void hold() {
        if (held != null || s.mcount() <= FROM) {
            return;
        }
        CountDownLatch fresh = new CountDownLatch(1);
        SchedLock.lock(s.sched);
        boolean theirs = held != null;
        held = theirs ? held : fresh;
        SchedLock.unlock(s.sched);
        if (theirs) {
            return; // Somebody else starts them.
        }
        boolean all = false;
        try {
            for (int i = 0; i < COUNT; i++) {
                Thread t = new Thread(null, this, s.name + "-spare" + i, 0, false);
                t.setDaemon(true);
                t.start();
            }
            all = true;
        } finally {
            if (!all) {
                letGo();
            }
        }
    }

    /** They end, soon. Takes no memory. */
    void letGo() {
        SchedLock.lock(s.sched);
        CountDownLatch over = held;
        held = null;
        SchedLock.unlock(s.sched);
        if (over != null) {
            over.countDown();
        }
    }

    /** What they run. One that begins late may find the latch of those who came after it, and ends with them. */
    @Override
    public void run() {
        CountDownLatch over = held;
        try {
            if (over != null) {
                over.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // Nobody does that but tools: one spare thread less.
        }
    }
}
