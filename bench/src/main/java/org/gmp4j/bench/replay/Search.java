// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.List;

/** Runs programs under a strategy until one run fails, the seeds are used up, or the time is. */
final class Search {
    static final String RANDOM = "random";
    static final String PCT = "pct";
    static final String EXHAUSTIVE = "exhaustive";
    /** Random, with stores that reach memory late. */
    static final String STORES = "stores";
    /** Random for even seeds, PCT for odd ones. */
    static final String MIXED = "mixed";
    static final List<String> STRATEGIES = List.of(MIXED, RANDOM, PCT, STORES, EXHAUSTIVE);

    private Search() {
    }

    static Strategy strategy(String name, long seed, int length) {
        boolean pct = name.equals(PCT) || name.equals(MIXED) && (seed & 1) != 0;
        Strategy s = pct ? new Pct(seed, length) : new RandomWalk(seed);
        s.delays = name.equals(STORES);
        return s;
    }

    /** Runs the seeds from {@code first} on. */
    static Finding seeds(Program p, String strategy, long first, long seeds, long nanos) {
        long began = System.nanoTime();
        int length = Engine.length(p);
        long steps = 0;
        long done = 0;
        for (long seed = first; seed < first + seeds && System.nanoTime() - began < nanos; seed++) {
            Run run = Engine.run(p, strategy(strategy, seed, length));
            steps += run.steps;
            done++;
            if (run.failure != null) {
                return new Finding(p, strategy, done, 0, false, steps, System.nanoTime() - began, seed, run);
            }
        }
        return new Finding(p, strategy, done, 0, false, steps, System.nanoTime() - began, -1, null);
    }

    /** Takes all schedules of a small program. */
    static Finding all(Program p, long nanos) {
        long began = System.nanoTime();
        Run _ = Engine.run(p, new RandomWalk(0)); // Loads classes: the first run may have other steps than the next.
        Exhaustive all = new Exhaustive();
        long steps = 0;
        Run run;
        do {
            run = Engine.run(p, all);
            steps += run.steps;
        } while (run.failure == null && all.another(run) && System.nanoTime() - began < nanos);
        return new Finding(p, EXHAUSTIVE, all.schedules() + (run.failure == null ? 0 : 1), all.states(), all.isComplete(), steps,
                System.nanoTime() - began, -1, run.failure == null ? null : run);
    }
}
