// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.simulate;

import java.util.LinkedHashMap;
import java.util.Map;

import org.gmp4j.queue.Places;

/**
 * What the model's steps take, in nanoseconds: round figures of servers of the years about 2021, assumed and the same for all
 * machines. A probe is a cache line from the victim's CPU.
 */
final class Costs {
    /** A look at a P whose bit says that it is idle. */
    static final long IDLE_LOOK = 1;
    static final long SPAWN = 60;
    static final long SWITCH = 150;
    /** sched.lock for a few instructions, the lock's line and those behind it coming from another CPU. */
    static final long LOCK = 120;
    /** The same, and some tens of goroutines move. */
    static final long LOCK_LONG = 400;
    /** An atomic operation on a word that others write. */
    static final long WORD = 60;
    /** The system call that wakes a thread, for the caller. */
    static final long FUTEX = 1_500;
    /** From there until the thread runs. */
    static final long WAKE = 5_000;

    private static final long[] PROBE = {5, 25, 60, 90, 140};
    private static final long A_GOROUTINE = 1;

    private Costs() {
    }

    static long probe(Places.Distance d) {
        return PROBE[d.ordinal()];
    }

    /** Returns the cost of taking so many from the P that was probed. */
    static long steal(Places.Distance d, int n) {
        return 2 * PROBE[d.ordinal()] + A_GOROUTINE * n;
    }

    /** Returns all costs by name, for people. */
    static Map<String, Long> all() {
        Map<String, Long> all = new LinkedHashMap<>();
        for (Places.Distance d : Places.Distance.values()) {
            all.put("probe, " + d.name().toLowerCase(java.util.Locale.ROOT), probe(d));
        }
        all.put("sched.lock", LOCK);
        all.put("sched.lock, moving many", LOCK_LONG);
        all.put("spinners' word", WORD);
        all.put("futex call", FUTEX);
        all.put("wake-up", WAKE);
        all.put("spawn", SPAWN);
        all.put("switch", SWITCH);
        return all;
    }
}
