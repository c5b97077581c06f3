// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

/**
 * Tells whether a goroutine was runnable for longer than a limit before it ran. Since when it is stands in a table by its goid, some goids
 * to an entry: a later one overwrites, so a wait may be taken for shorter than it was, never for longer. From any thread; races do no harm,
 * as an entry is one word that only gets later.
 */
public final class Lateness {
    private static final int ENTRIES = 1 << 14;

    private final long[] since = new long[ENTRIES];
    private volatile long limit = Long.MAX_VALUE;
    private volatile boolean late;

    /** Arms it: from here on waits of more than so many ticks are noticed. */
    public void setLimit(long ticks) {
        late = false;
        limit = ticks;
    }

    /** Whether there was one. */
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
