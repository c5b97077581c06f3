// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

/**
 * What an execution trace costs: a round trip through unbuffered channels while none is written, and while one is. Both in turns in one
 * process, so that what disturbs one disturbs the other. {@code bench/peers/go} does the same with Go's tracer.
 */
final class Traced {
    /** How many round trips a run has. */
    private static final int TRIPS = 50_000;

    private Traced() {
    }

    /** Runs it; {@code false} if it is another work that is wanted. */
    static boolean run(String work, String suffix, Kit kit, Meter m) {
        if (!work.equals("traced")) {
            return false;
        }
        int n = m.size(TRIPS);
        Runnable body = Works.roundTrips(kit, n);
        m.warmUp(nanos -> {
            long end = System.nanoTime() + nanos;
            do {
                double _ = off(kit, body);
                double _ = on(kit, body);
            } while (System.nanoTime() - end < 0);
        });
        long end = System.nanoTime() + m.settings().nanos();
        for (int runs = 0; runs < Meter.LEAST_RUNS || System.nanoTime() - end < 0; runs++) {
            double off = off(kit, body);
            double on = on(kit, body);
            m.value("traced/off" + suffix, "ns", off / n);
            m.value("traced/on" + suffix, "ns", on / n);
            m.value("traced/cost" + suffix, "times", on / off);
        }
        return true;
    }

    private static double on(Kit kit, Runnable body) {
        Runnable stop = kit.trace();
        try {
            return off(kit, body);
        } finally {
            stop.run();
        }
    }

    /** Nanoseconds of the second of two runs: the first one touches the memory that a trace takes, and fills the caches. */
    private static double off(Kit kit, Runnable body) {
        kit.run(body);
        long start = System.nanoTime();
        kit.run(body);
        return System.nanoTime() - start;
    }
}
