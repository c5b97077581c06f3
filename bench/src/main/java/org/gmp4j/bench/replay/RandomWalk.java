// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/**
 * Chooses at random. Some runs change lanes at nearly each point, others seldom, as the seed says: bugs that need many changes and bugs
 * that need one lane to go far are both met.
 */
final class RandomWalk extends Strategy {
    /** One in so many steps of a run considers the end of a sleep. */
    private static final int END_SLEEP = 24;
    private static final int[] STAY = {0, 50, 75, 90, 97};
    /** Percents: in so many of a run's steps a store that is held back arrives, if there is one. */
    private static final int[] ARRIVE = {1, 5, 20, 50};

    private final long seed;
    private Numbers numbers;
    private int stay;
    private int arrive;

    RandomWalk(long seed) {
        this.seed = seed;
    }

    @Override
    void begin(Run run) {
        numbers = new Numbers(seed);
        stay = STAY[numbers.below(STAY.length)];
        arrive = delays ? ARRIVE[numbers.below(ARRIVE.length)] : 0;
    }

    @Override
    int choose(Run run) {
        int n = run.optionCount;
        if (n == 1) {
            return run.options[0];
        }
        if (isStart(run)) {
            return run.options[numbers.below(2)];
        }
        int stores = 0;
        while (stores < n && Run.kind(run.options[n - 1 - stores]) == Run.STORE) {
            stores++;
        }
        if (stores == n || stores > 0 && numbers.below(100) < arrive) {
            return run.options[n - 1 - numbers.below(stores)];
        }
        n -= stores;
        int go = 0;
        while (go < n && Run.kind(run.options[go]) == Run.GO) {
            go++;
        }
        if (go == 0) {
            return numbers.below(4) == 0 ? run.options[numbers.below(n)] : earliest(run);
        }
        if (go < n && numbers.below(END_SLEEP) == 0) {
            return run.options[go + numbers.below(n - go)];
        }
        if (numbers.below(100) < stay) {
            return calm(run);
        }
        return run.options[numbers.below(go)];
    }
}
