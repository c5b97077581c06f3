// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * Finds the races of one run: two accesses that depend on each other, of two lanes, of which the first need not come first. Each step has a
 * vector clock: for each lane the last of its steps that comes before in any order of independent accesses.
 */
final class Races {
    private static final int LANES = Run.MOST;

    /** The accesses to one word. */
    private static final class Word {
        int write = -1;
        int writer;
        int[] afterWrite;
        /** For each lane its last read since the write, and the clocks of all of them joined. */
        final int[] reads = new int[LANES];
        int[] afterReads;

        Word() {
            Arrays.fill(reads, -1);
        }
    }

    private final Map<Long, Word> words = new HashMap<>();
    private final int[][] clocks = new int[LANES][];
    /** The last step of each lane; -1 for none. */
    private final int[] last = new int[LANES];
    /** The last step that depends on all others; -1 for none. */
    private int anywhere;
    private int anywhereLane;
    private int[] afterAnywhere;
    private int lanes;
    private int lastLane;

    /** Begins a run. */
    void clear() {
        words.clear();
        Arrays.fill(clocks, null);
        Arrays.fill(last, -1);
        anywhere = -1;
        afterAnywhere = null;
        lanes = 0;
        lastLane = -1;
    }

    /** Sets the number of lanes to {@code count}. The last step has started the new lanes. Called before each step. */
    void lanes(int count) {
        for (; lanes < count; lanes++) {
            clocks[lanes] = new int[LANES];
            Arrays.fill(clocks[lanes], -1);
            join(clocks[lanes], lastLane < 0 ? null : clocks[lastLane]);
        }
    }

    /**
     * Notes the next step.
     *
     * @return the last step of another lane that depends on it and need not come before it; -1 for none
     */
    int take(int step, int lane, long word, boolean writes) {
        int[] clock = clocks[lane];
        int race = -1;
        if (word == Trace.ANYWHERE) {
            for (int l = 0; l < LANES; l++) {
                if (l != lane && last[l] > clock[l]) {
                    race = Math.max(race, last[l]);
                }
            }
            for (int l = 0; l < LANES; l++) {
                join(clock, clocks[l]);
            }
        } else {
            Word w = words.computeIfAbsent(word, _ -> new Word());
            if (anywhere >= 0 && anywhereLane != lane && anywhere > clock[anywhereLane]) {
                race = anywhere;
            }
            if (w.write >= 0 && w.writer != lane && w.write > clock[w.writer]) {
                race = Math.max(race, w.write);
            }
            if (writes) {
                for (int l = 0; l < LANES; l++) {
                    if (l != lane && w.reads[l] > clock[l]) {
                        race = Math.max(race, w.reads[l]);
                    }
                }
                join(clock, w.afterReads);
            }
            join(clock, w.afterWrite);
            join(clock, afterAnywhere);
        }
        clock[lane] = step;
        last[lane] = step;
        lastLane = lane;
        note(step, lane, word, writes, clock);
        return race;
    }

    /**
     * Finds the steps of other lanes with which an access may race that the lane has still to make: those that depend on it, and are not
     * known to come before. A lane that has not begun is taken to come after what comes before all lanes.
     */
    void with(int lane, long word, boolean writes, IntConsumer race) {
        int[] clock = clocks[lane] == null ? first() : clocks[lane];
        if (word == Trace.ANYWHERE) {
            for (int l = 0; l < LANES; l++) {
                found(l, last[l], lane, clock, race);
            }
            return;
        }
        found(anywhereLane, anywhere, lane, clock, race);
        Word w = words.get(word);
        if (w != null) {
            found(w.writer, w.write, lane, clock, race);
            for (int l = 0; l < LANES && writes; l++) {
                found(l, w.reads[l], lane, clock, race);
            }
        }
    }

    private static void found(int by, int step, int lane, int[] clock, IntConsumer race) {
        if (step >= 0 && by != lane && step > clock[by]) {
            race.accept(step);
        }
    }

    private int[] first() {
        int[] clock = clocks[0].clone();
        for (int i = 1; i < lanes; i++) {
            for (int l = 0; l < LANES; l++) {
                clock[l] = Math.min(clock[l], clocks[i][l]);
            }
        }
        return clock;
    }

    private void note(int step, int lane, long word, boolean writes, int[] clock) {
        if (word == Trace.ANYWHERE) {
            anywhere = step;
            anywhereLane = lane;
            afterAnywhere = clock.clone();
            return;
        }
        Word w = words.get(word);
        if (writes) {
            w.write = step;
            w.writer = lane;
            w.afterWrite = clock.clone();
            Arrays.fill(w.reads, -1);
            w.afterReads = null;
        } else {
            w.reads[lane] = step;
            w.afterReads = w.afterReads == null ? clock.clone() : w.afterReads;
            join(w.afterReads, clock);
        }
    }

    private static void join(int[] into, int[] other) {
        for (int l = 0; other != null && l < LANES; l++) {
            into[l] = Math.max(into[l], other[l]);
        }
    }
}
