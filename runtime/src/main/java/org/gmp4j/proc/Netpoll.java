// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.lock.Note;
import org.gmp4j.struct.Schedt;

/**
 * What the loop needs of the network poller, which is in a package above. {@link #NONE} knows no network; it only sleeps until
 * the next timer.
 */
public interface Netpoll {
    /**
     * Finds Gs whose I/O is ready. One caller at a time may wait: the one that has taken {@code sched.lastpoll}.
     *
     * @param delay nanoseconds to wait for some: 0 not at all, negative without limit
     * @return waiting Gs, which are the caller's to ready, linked by schedlink in the order found; 0 for none
     */
    long poll(Scheduler s, long delay);

    /** Ends a {@link #poll} that waits, or the next one that would. */
    void wake(Scheduler s);

    /** Whether any goroutine waits for I/O. */
    boolean anyWaiters(Scheduler s);

    /** The scheduler has ended, its threads are gone: gives everything back. */
    void close(Scheduler s);

    /** A poller without files: one M sleeps on a note with a time limit. */
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
