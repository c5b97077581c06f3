// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

/**
 * The loop's interface to sysmon, the thread that watches the scheduler without a P. {@code Upkeep} has the work that sysmon does for the
 * loop.
 */
public interface Monitor {
    /** Sysmon's record of an M or a P. It is made with the M or P, so that a scan does not allocate. */
    interface Watched {
        /** Resets the record, because the M gets another thread. */
        default void renew() {
        }
    }

    /** Makes the record of a new M. Throws an OutOfMemoryError if there is no memory. */
    Watched ofM();

    /** Makes the record of a new P. Throws an OutOfMemoryError if there is no memory. */
    Watched ofP();

    /** Starts sysmon's thread, when the scheduler is complete. Throws an OutOfMemoryError if there is no memory or thread. */
    void start();

    /** Makes sysmon's thread end soon, and returns the thread. Called when the scheduler has ended. */
    Thread stop();

    /** Returns whether the caller is sysmon's thread, which must not wait for its own end. */
    boolean isCurrent();
}
