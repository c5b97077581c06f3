// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.Gmp;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.upkeep.Upkeep;
import org.gmp4j.sysmon.Unwatched;

/** Sysmon's attempts to end a shortage of Ms in a heap that is full: before the JVM shuts down, and then in the program's first hook. */
final class FullHeapShortageProgram {
    private static final long MILLIS = 1_000_000;
    private static final String REASON = "the test wants it";
    private static volatile Object ballast;

    private final Scheduler s;
    private final Upkeep upkeep;
    /** The time of the scans. It is so early that the scheduler does not print its line about the shortage, for which it needs memory. */
    private long now = System.nanoTime() - 10_000 * MILLIS;

    private FullHeapShortageProgram(Scheduler s) {
        this.s = s;
        upkeep = new Upkeep(s);
    }

    private static void fill() {
        Object[] all = null;
        int size = 1 << 16;
        for (;;) {
            try {
                all = size >= 16 ? new Object[] {all, new byte[size]} : new Object[] {all};
                ballast = all;
            } catch (OutOfMemoryError e) {
                if (size < 16) {
                    return;
                }
                size /= 4;
            }
        }
    }

    public static void main(String[] args) {
        Gmp _ = Gmp.builder().procs(1).build(); // It initialises the classes that sysmon needs.
        FullHeapShortageProgram p = new FullHeapShortageProgram(new Unwatched(1, 10 * MILLIS, Netpoll.NONE).s);
        p.upkeep.shortage(p.now);
        p.inFullHeap();
        Runtime.getRuntime().addShutdownHook(new Thread(p::inFullHeap));
        System.exit(0);
    }

    private void scan() {
        s.shortage = REASON;
        now += 100 * MILLIS;
        upkeep.shortage(now);
    }

    /** Makes two of sysmon's scans, and then prints whether the last one tried to make an M, and what was thrown. */
    private void inFullHeap() {
        Throwable thrown = null;
        fill();
        try {
            scan();
            scan();
        } catch (OutOfMemoryError | LinkageError e) {
            thrown = e;
        }
        ballast = null;
        System.out.println((s.shortage == null ? "tried, " : "waited, ") + thrown);
    }
}
