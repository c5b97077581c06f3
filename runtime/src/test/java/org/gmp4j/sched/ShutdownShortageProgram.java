// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.upkeep.Upkeep;
import org.gmp4j.sysmon.Unwatched;

/** Prints at which times sysmon tries to end a shortage of Ms, before the JVM shuts down and in a shutdown hook. */
final class ShutdownShortageProgram {
    private static final long MILLIS = 1_000_000;

    private final Scheduler s;
    private final Upkeep upkeep;

    private ShutdownShortageProgram(Scheduler s) {
        this.s = s;
        upkeep = new Upkeep(s);
    }

    public static void main(String[] args) {
        ShutdownShortageProgram p = new ShutdownShortageProgram(new Unwatched(1, 10 * MILLIS, Netpoll.NONE).s);
        p.scan(1_000_000);
        p.scan(1_000_020);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            p.scan(1_000_040);
            p.scan(1_001_039);
            p.scan(1_001_040);
            p.scan(1_001_060);
        }));
        System.exit(0);
    }

    /** Makes sysmon's scan, and prints whether it tries to make an M. */
    private void scan(long millis) {
        s.shortage = "the test wants it";
        upkeep.shortage(millis * MILLIS);
        System.out.println(millis + (s.shortage == null ? " tries" : " waits"));
    }
}
