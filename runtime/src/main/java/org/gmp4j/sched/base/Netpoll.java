// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.lock.Note;
import org.gmp4j.struct.Schedt;

/** The loop's interface to the network poller. {@link #NONE} has no network, and only sleeps until the next timer. */
public interface Netpoll {
    /**
     * Finds Gs whose I/O is ready. Only a caller that has set {@code sched.lastpoll} to 0 may wait.
     *
     * @param delay how long to wait, in ns, if none is ready: 0 for no wait, negative for no limit
     * @return the Gs, linked by schedlink in the order found, or 0 for none. They are still waiting, and the caller has to ready them
     */
    long poll(Scheduler s, long delay);

    /** Ends a {@link #poll} that waits. If no poll waits, the next poll does not wait. */
    void wake(Scheduler s);

    /** Returns whether any goroutine waits for I/O. */
    boolean anyWaiters(Scheduler s);

    /** Receives the waits of {@link #eachWait}. */
    interface Waits {
        /**
         * Receives one wait.
         *
         * @param gp the goroutine, which may be running again
         * @param fd the descriptor
         * @param write whether it waits to write
         */
        void waits(long gp, int fd, boolean write);
    }

    /**
     * Passes the waits of goroutines for descriptors of the JDK to {@code to}, each as it was at some moment of this call. Takes no lock.
     */
    default void eachWait(Waits to) {
        // There are no waits.
    }

    /** Releases all resources. Called when the scheduler has ended and its threads are gone. */
    void close(Scheduler s);

    /** A poller without descriptors: one M sleeps on a note. */
    Netpoll NONE = new Netpoll() {
        @Override
        public long poll(Scheduler s, long delay) {
            if (delay != 0) {
                long note = Schedt.pollBreakAddress(s.sched);
                Note.sleep(note, delay);
                Note.clear(note);
            }
            return 0;
        }

        @Override
        public void wake(Scheduler s) {
            Note.ring(Schedt.pollBreakAddress(s.sched));
        }

        @Override
        public boolean anyWaiters(Scheduler s) {
            return false;
        }

        @Override
        public void close(Scheduler s) {
            // Holds nothing.
        }
    };
}
