// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

/**
 * Tells whether a goroutine was runnable for longer than a limit before it ran. A table by goid has the time since when it is
 * runnable; several goids share an entry, and a later one overwrites it, so a wait may be taken for shorter than it was, never for
 * longer. From any thread; races do no harm, as an entry is one word that only gets later. Who read the limit before it was changed may
 * notice a wait by the old one.
 */
public final class Lateness {
    private static final int ENTRIES = 1 << 14;

    private final long[] since = new long[ENTRIES];
    private volatile long limit = Long.MAX_VALUE;
    private volatile boolean late;

    /** From here on waits of more than {@code ticks} are noticed. */
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
