// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

/**
 * Detects that a goroutine was runnable for longer than a limit before it ran. A table by goid has the time at which a goroutine became
 * runnable. Several goids share an entry, and a later goroutine overwrites the time of an earlier one. So a wait may be measured too short.
 * Any thread may call all methods, and races do little harm. An entry is a single word. A thread that stores its time late may make the
 * wait of another goroutine look longer by that delay. A thread that reads the limit before a change may judge a wait by the old limit.
 */
public final class Lateness {
    private static final int ENTRIES = 1 << 14;

    private final long[] since = new long[ENTRIES];
    private volatile long limit = Long.MAX_VALUE;
    private volatile boolean late;

    /** Sets the limit. From now on waits longer than {@code ticks} are detected. */
    public void setLimit(long ticks) {
        late = false;
        limit = ticks;
    }

    /** Returns whether a wait exceeded the limit. */
    public boolean isLate() {
        return late;
    }

    void runnable(long goid, long ticks) {
        since[(int) goid & ENTRIES - 1] = ticks;
    }

    void runs(long goid, long ticks) {
        long began = since[(int) goid & ENTRIES - 1];
        if (began != 0 && ticks - began > limit) {
            late = true;
        }
    }
}
