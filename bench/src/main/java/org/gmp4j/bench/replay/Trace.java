// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The steps of a run, to be printed. A run without a trace is several times as fast. */
final class Trace {
    /** The word of an access that concerns all words. */
    static final long ANYWHERE = -1;
    /** The trace of the run under way; null for none. */
    static Trace now;

    /** One step of a lane. */
    static final class Step {
        final int lane;
        final int site;
        /** The number of the word or object; 0 for none. */
        final int what;
        String result = "";

        Step(int lane, int site, int what) {
            this.lane = lane;
            this.site = site;
            this.what = what;
        }

        /** Returns the text of a row. */
        String text() {
            return Sites.of(site).text() + (what == 0 ? "" : " #" + what) + (result.isEmpty() ? "" : " " + result);
        }
    }

    private final List<Step> steps = new ArrayList<>();
    private final Map<Long, Integer> words = new HashMap<>();
    private final Map<Object, Integer> objects = new IdentityHashMap<>();

    List<Step> steps() {
        return steps;
    }

    void step(Run run, Lane l) {
        int what = l.object != null ? objects.computeIfAbsent(l.object, o -> objects.size() + 1)
                : l.word == 0 || l.word == ANYWHERE ? 0 : words.computeIfAbsent(l.word, w -> words.size() + 1);
        steps.add(new Step(l.index, l.site, what));
    }

    /** A store of a lane reaches memory. */
    void store(int lane, long word) {
        steps.add(new Step(lane, Sites.STORE, words.computeIfAbsent(word, w -> words.size() + 1)));
    }

    /** Adds a remark to the last step. */
    void note(Lane l, String text) {
        if (!steps.isEmpty()) {
            steps.getLast().result = text;
        }
    }

    private void result(String text) {
        if (World.stops() && !steps.isEmpty()) {
            steps.getLast().result = text;
        }
    }

    static int value(int v) {
        if (now != null) {
            now.result(String.valueOf(v));
        }
        return v;
    }

    static long value(long v) {
        if (now != null) {
            now.result(now.named(v));
        }
        return v;
    }

    static boolean value(boolean v) {
        if (now != null) {
            now.result(String.valueOf(v));
        }
        return v;
    }

    /** Returns a number, or the number of the struct whose address it is. */
    private String named(long v) {
        return Math.abs(v) < 1 << 30 ? String.valueOf(v) : "&" + words.computeIfAbsent(v, w -> words.size() + 1);
    }
}
