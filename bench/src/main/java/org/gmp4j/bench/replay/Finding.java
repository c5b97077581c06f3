// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/**
 * What one strategy found in one program.
 *
 * @param strategy its name
 * @param schedules how many schedules were run
 * @param states how many states an exhaustive search has seen; 0 for other strategies
 * @param complete whether the search was exhaustive and has ended
 * @param steps the steps of all runs
 * @param nanos how long it took
 * @param seed the seed that fails; -1 for none, and for an exhaustive search
 * @param failed the run that failed; null for none
 */
record Finding(Program program, String strategy, long schedules, long states, boolean complete, long steps, long nanos, long seed,
        Run failed) {
    /** Returns the row of the table. */
    String row() {
        String covered = strategy.equals(Search.EXHAUSTIVE) ? states + " states" + (complete ? ", all" : "") : "";
        return "%-16s %-10s %9d %8.1f s  %s".formatted(program.name(), strategy, schedules, nanos / 1e9,
                failed == null ? covered : "FAILED: " + failed.failure.text()).stripTrailing();
    }
}
