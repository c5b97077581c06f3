// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.boot;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.stack.OwnThread;

/**
 * Checks that the system can start the threads that a first scheduler needs: its sysmon, two Ms, and one for the JVM. If the system refuses
 * a thread while goroutines run, a ready G waits until the end of another goroutine frees a thread. In a first scheduler without threads no
 * goroutine runs, so the G would wait for ever.
 */
public final class FirstThreads implements Runnable {
    private static final int COUNT = 4;

    private final CountDownLatch over = new CountDownLatch(1);

    private FirstThreads() {
    }

    /**
     * Starts {@value #COUNT} threads at the same time, and ends them.
     *
     * @throws OutOfMemoryError when the system does not give {@value #COUNT} threads; the threads that were started have ended
     */
    public static void check() {
        FirstThreads all = new FirstThreads();
        Thread[] started = new Thread[COUNT];
        int n = 0;
        try {
            for (; n < COUNT; n++) {
                Thread t = new OwnThread(all, "gmp-first" + n);
                t.start();
                started[n] = t;
            }
        } finally {
            all.over.countDown();
            for (int i = 0; i < n; i++) {
                OwnThread.joinUninterruptibly(started[i]);
            }
        }
    }

    @Override
    public void run() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // Only tools interrupt this thread, which then ends sooner.
        }
    }
}
