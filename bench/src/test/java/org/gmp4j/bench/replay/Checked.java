// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.HashMap;
import java.util.Map;

/**
 * Follows another strategy, and fails to find two states with one number that differ in their contents ({@link Contents}), in what can be
 * done, or in the state to which an option leads: what a number leaves out shows at the latest when it is read.
 */
final class Checked extends Strategy {
    private static final long END = 0xE2D;
    /** In a program of production code, contents are compared only for states whose number has none of these bits: one in 64. */
    private static final long SOME = 0x3F;

    Strategy by;
    private final Map<Long, Long> contents = new HashMap<>();
    private final Map<Long, Long> next = new HashMap<>();
    private Run run;
    private long from;
    /** How often a run has come to a state that was known, or from one to the next in a way that was known. */
    long again;
    /** How many objects class initialisers have made: with more of them all contents are others. */
    private int lasting;
    /** What two states with one number do not have in common; null if there was none. */
    String differs;

    Checked(Strategy by) {
        this.by = by;
    }

    @Override
    boolean comparesStates() {
        return true;
    }

    @Override
    void begin(Run of) {
        run = of;
        from = 0;
        by.begin(of);
    }

    @Override
    int choose(Run of) {
        long state = of.digest.state();
        contents(state);
        long options = state;
        for (int i = 0; i < of.optionCount; i++) {
            options = Digest.mix(options, of.options[i]);
        }
        follows(options);
        int option = by.choose(of);
        from = Digest.mix(state, option + 1);
        return option;
    }

    private void contents(long state) {
        if ((state & (run.program.group().equals("race") ? 0 : SOME)) != 0) {
            return;
        }
        if (lasting != Statics.values().size()) {
            lasting = Statics.values().size();
            contents.clear();
        }
        compare(contents, state, Contents.of(run), "contents");
    }

    private void follows(long to) {
        if (from != 0) {
            compare(next, from, to, "what follows");
        }
    }

    private void compare(Map<Long, Long> all, long of, long with, String what) {
        Long known = all.putIfAbsent(of, with);
        again += known == null ? 0 : 1;
        if (known != null && known != with && differs == null) {
            differs = what + " at step " + run.steps + " of " + new Schedule(run.schedule());
        }
    }

    /** Called after a run. */
    void ended() {
        if (run.failure != null) {
            follows(Digest.mix(END, run.failure.text().hashCode()));
        } else if (!run.cut) {
            follows(run.digest.state());
            contents(run.digest.state());
        }
    }
}
