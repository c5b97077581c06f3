// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.proc.Upkeep;

/**
 * Notes since when goroutines wait, every {@value #EVERY} ns: a traceback's minutes are off by that much at most. A pass takes a part of
 * the goroutines at each look, so that they do not keep sysmon from its other duties, however many they are. While nothing runs, no
 * goroutine begins to wait but one that the JDK parks without a P, which gets its time at once ({@code Mcall.jdkYield}). So one pass after
 * the last change is enough. Only sysmon uses this class.
 */
final class WaitTimes {
    static final long EVERY = 20_000_000_000L;

    private final Upkeep upkeep;
    /** Goroutines that waited at this time are noted, or will be by the pass under way. */
    private long noted;
    /** How far that pass has come; 0 for none. */
    private int part;

    WaitTimes(Upkeep upkeep, long began) {
        this.upkeep = upkeep;
        noted = began;
    }

    /** A part of a pass, if one is under way or due. */
    void look(long now) {
        if (part == 0) {
            if (now - noted < EVERY) {
                return;
            }
            noted = now;
        }
        part = upkeep.timeWaits(part, now);
    }

    /** At {@code now} nothing runs, and all Ps have been idle since {@code since}: what waited at the last pass is all that waits. */
    void allIdle(long since, long now) {
        if (part == 0 && noted - since > 0) {
            noted = now;
        }
    }

    /** Whether a pass is under way. */
    boolean goOn() {
        return part != 0;
    }

    /** Nanoseconds until the next pass is due; less than 0 when it is. */
    long untilDue(long now) {
        return noted + EVERY - now;
    }
}
