// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.sched.upkeep.Upkeep;

/**
 * Records the times at which goroutines began to wait, in a pass every {@value #EVERY} ns. So the minutes in a traceback may be wrong by
 * this interval. A pass takes several rounds of sysmon, one for each part of the goroutines, so that it does not keep sysmon from its other
 * duties. While all Ps are idle, no goroutine begins to wait, with one exception: the JDK may park a goroutine that has no P. The time of
 * such a wait is recorded at once ({@code Mcall.jdkYield}). So one pass after the last P became idle is enough. Only sysmon uses this
 * class.
 */
final class WaitTimes {
    static final long EVERY = 20_000_000_000L;

    private final Upkeep upkeep;
    /** All waits that began before this nanoTime are recorded, or will be when the pass under way is complete. */
    private long noted;
    /** The position of the pass under way; 0 if there is none. */
    private int part;

    WaitTimes(Upkeep upkeep, long began) {
        this.upkeep = upkeep;
        noted = began;
    }

    /** Does a part of a pass, if one is under way or due. */
    void look(long now) {
        if (part == 0) {
            if (now - noted < EVERY) {
                return;
            }
            noted = now;
        }
        part = upkeep.timeWaits(part, now);
    }

    /**
     * Called when all Ps have been idle from {@code since} to {@code now}. If the last pass began after {@code since} and is complete, it
     * has recorded all goroutines that wait. Then the next pass is due only {@value #EVERY} ns from now.
     */
    void allIdle(long since, long now) {
        if (part == 0 && noted - since > 0) {
            noted = now;
        }
    }

    /** Returns whether a pass is under way. */
    boolean goOn() {
        return part != 0;
    }

    /** Returns the nanoseconds until the next pass is due; negative if the pass is overdue. */
    long untilDue(long now) {
        return noted + EVERY - now;
    }
}
