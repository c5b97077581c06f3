// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.Arrays;

/**
 * Probabilistic concurrency testing: the lane with the highest priority goes on, and at a few random steps it gets the lowest. With d - 1
 * such steps among k, and n lanes, a bug of depth d is met by a run with a probability of at least 1 / (n * k^(d-1)).
 *
 * <p>Source: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs",
 * ASPLOS 2010.
 */
final class Pct extends Strategy {
    private static final int MOST_CHANGES = 4;
    private static final int TOP = 1 << 20;

    private final long seed;
    private final int length;
    private Numbers numbers;
    private final int[] priorities = new int[Run.MOST];
    private int known;
    private int[] changes;
    private int lowest;

    /** @param length about how many steps a run has */
    Pct(long seed, int length) {
        this.seed = seed;
        this.length = Math.max(2, length);
    }

    @Override
    void begin(Run run) {
        numbers = new Numbers(seed);
        known = 0;
        lowest = 0;
        changes = new int[1 + numbers.below(MOST_CHANGES)];
        for (int i = 0; i < changes.length; i++) {
            changes[i] = numbers.below(length);
        }
        Arrays.sort(changes);
    }

    @Override
    int choose(Run run) {
        for (; known < run.count; known++) {
            priorities[known] = 1 + numbers.below(TOP);
        }
        if (isStart(run)) {
            return run.options[numbers.below(2)];
        }
        if (Arrays.binarySearch(changes, run.steps) >= 0) {
            priorities[run.last] = --lowest;
            int o = run.options[run.optionCount - 1];
            if (Run.kind(o) != Run.GO && numbers.below(2) == 0) {
                return run.options[numbers.below(run.optionCount)];
            }
        }
        if (run.count > 0 && run.lanes[run.last].spins) {
            priorities[run.last] = --lowest; // What it waits for is another's to do.
        }
        int best = -1;
        for (int i = 0; i < run.optionCount; i++) {
            int o = run.options[i];
            if (Run.kind(o) == Run.GO && (best < 0 || priorities[Run.lane(o)] > priorities[Run.lane(best)])) {
                best = o;
            }
        }
        return best >= 0 ? best : earliest(run);
    }
}
