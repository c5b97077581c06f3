// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.OsThread;

/**
 * Whether the process has what the JDK's classes of sockets take when they are initialised: memory, descriptors, threads. A class whose
 * initialiser fails can never be used in that JVM, so no class is initialised before its time, when nothing needs it yet, without a proof.
 * The proof asks for about twice what those classes take. What other threads take between it and the initialisation it does not rule
 * out, as nothing does for a class that is initialised when it is needed.
 *
 * <p>Other threads must not find a resource gone because of the proof. Memory and descriptors are looked at, not taken. For threads there
 * is no such look: they are started, for an instant, and only where there is enough of the others.
 */
final class JdkRoom {
    /** The JDK's pollers take one for each CPU, up to 32, and its sockets a few. */
    private static final int DESCRIPTORS = 72;
    /** A poller's, and the workers of the JDK's scheduler, or with jdk.pollerMode=1 one for each poller. */
    private static final int THREADS = Math.min(32, Runtime.getRuntime().availableProcessors()) + 4;
    private static final long BYTES = 4 << 20;
    /** For a thread to be gone that has ended, which the kernel's limit still counts. */
    private static final long MILLIS = 1_000_000;
    private static final int MOST_MILLIS = 1000;

    private JdkRoom() {
    }

    /** Whether there is room just now. */
    static boolean enough() {
        try {
            return memory() && Fd.areFree(DESCRIPTORS) && threads();
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** What the last collection has left; until the next one garbage counts as used, which only makes the caller wait. */
    private static boolean memory() {
        Runtime r = Runtime.getRuntime();
        return r.maxMemory() - r.totalMemory() + r.freeMemory() >= BYTES;
    }

    /** All are there at the same time. */
    private static boolean threads() {
        Held[] all = new Held[THREADS];
        for (int i = 0; i < THREADS; i++) {
            all[i] = new Held();
        }
        int n = 0;
        try {
            while (n < THREADS) {
                all[n].start();
                n++;
            }
            return true;
        } finally { // Also with an OutOfMemoryError, which says that there is no thread.
            while (n > 0) {
                all[--n].end();
            }
        }
    }

    /** A thread that does nothing. */
    private static final class Held extends OwnThread {
        private volatile boolean over;
        private volatile int tid;

        Held() {
            super("gmp-sockets-room");
        }

        @Override
        public void run() {
            tid = OsThread.gettid();
            while (!over) {
                LockSupport.park();
            }
        }

        /** Returns when the kernel no longer counts it. */
        void end() {
            over = true;
            LockSupport.unpark(this);
            while (isAlive()) {
                LockSupport.parkNanos(MILLIS); // Not join, which an interrupt ends.
                boolean _ = Thread.interrupted();
            }
            for (int i = 0; i < MOST_MILLIS && OsThread.cpuNanos(tid) >= 0; i++) {
                LockSupport.parkNanos(MILLIS);
            }
        }
    }
}
