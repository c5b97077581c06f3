// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/** Chooses at each point of a run which lane goes on. */
abstract class Strategy {
    /** The result of {@link #choose} that ends the run: another run has covered what would follow. */
    static final int NOTHING_NEW = -1;

    /** Whether stores reach memory later than the lane's next load, if nothing orders the two. */
    boolean delays;

    /** Begins a run. */
    abstract void begin(Run run);

    /** Returns one of the run's options. */
    abstract int choose(Run run);

    /** Returns whether the strategy compares the states of runs. */
    boolean comparesStates() {
        return false;
    }

    /** Returns whether the choice is whether a start of a thread fails. */
    static boolean isStart(Run run) {
        return run.optionCount == 2 && Run.kind(run.options[1]) == Run.FAILS;
    }

    /** Returns the first option that lets a lane go on by itself, the last lane if it can; else the sleep that ends first. */
    static int calm(Run run) {
        int last = run.last;
        int first = -1;
        for (int i = 0; i < run.optionCount; i++) {
            int o = run.options[i];
            if (Run.kind(o) == Run.GO) {
                if (Run.lane(o) == last) {
                    return o;
                }
                first = first < 0 ? o : first;
            }
        }
        return first >= 0 ? first : earliest(run);
    }

    /** Returns the option by which the first deadline passes. */
    static int earliest(Run run) {
        int best = -1;
        for (int i = 0; i < run.optionCount; i++) {
            int o = run.options[i];
            if (Run.kind(o) == Run.TIMEOUT
                    && (best < 0 || run.lanes[Run.lane(o)].deadline < run.lanes[Run.lane(best)].deadline)) {
                best = o;
            }
        }
        return best < 0 ? run.options[0] : best;
    }
}
