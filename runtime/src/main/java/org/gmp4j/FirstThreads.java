// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.stack.OwnThread;

/**
 * Finds out whether the system gives the threads that a first scheduler needs: its sysmon, two Ms, and one for the JVM. Later on what is
 * ready to run waits until there is a thread for it. A first scheduler without any would wait for ever: nobody has work yet that could end.
 */
final class FirstThreads implements Runnable {
    private static final int COUNT = 4;

    private final CountDownLatch over = new CountDownLatch(1);

    private FirstThreads() {
    }

    /**
     * Starts so many at a time, and ends them.
     *
     * @throws OutOfMemoryError when the system does not give them; they have ended then too
     */
    static void check() {
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

    /** Returns whether there was an interrupt meanwhile. */
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
            Thread.currentThread().interrupt(); // Only tools interrupt it: it ends sooner.
        }
    }
}
