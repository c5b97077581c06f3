// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

/**
 * What the loop asks of the thread that watches it without a P, sysmon, which lives a floor above. What that does for the loop is in
 * {@link Upkeep}.
 */
public interface Monitor {
    /** What it keeps of an M or of a P: made with that, so that a look takes no memory. */
    interface Watched {
        /** The struct of the M gets another thread. */
        default void renew() {
        }
    }

    /** For a new M. Throws for want of memory. */
    Watched ofM();

    /** For a new P. Throws for want of memory. */
    Watched ofP();

    /** The scheduler is made: its thread begins. Throws for want of one. */
    void start();

    /** The scheduler has ended: its thread, which is told, and ends soon. */
    Thread stop();
}
