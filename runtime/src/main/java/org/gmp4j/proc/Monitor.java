// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

/**
 * What the loop needs of sysmon, the thread that watches it without a P, which is in a package above. What sysmon does for the loop is
 * in {@link Upkeep}.
 */
public interface Monitor {
    /** What sysmon keeps for an M or a P: made together with that, so that a look takes no memory. */
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

    /** The scheduler has ended: tells the thread, which ends soon, and returns it. */
    Thread stop();

    /** Whether this is its thread, which must not wait for its own end. */
    boolean isCurrent();
}
