// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.boot;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.stack.OwnThread;

/**
 * Checks that the system gives the threads that a first scheduler needs: its sysmon, two Ms, and one for the JVM. Once goroutines run, a
 * ready G waits until a thread is free for it. A first scheduler without a thread would wait for ever, because no goroutine runs whose end
 * could free a thread.
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
                Thread t = new OwnThread(all, "gmp-rehearsal-first" + n);
                t.start();
                started[n] = t;
            }
        } finally {
            all.over.countDown();
            boolean interrupted = false;
            for (int i = 0; i < n; i++) {
                interrupted |= join(started[i]);
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for the end of a thread. Returns whether the caller was interrupted meanwhile. */
    private static boolean join(Thread t) {
        boolean interrupted = false;
        for (;;) {
            try {
                t.join();
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
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
