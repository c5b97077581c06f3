// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/** Follows a schedule. */
final class Scripted extends Strategy {
    private final int[][] parts;
    private final boolean exact;
    private int part;
    private int taken;

    /**
     * @param parts options and their counts, in order
     * @param exact whether each part has to fit; otherwise one that does not is passed over. Behind the last part the last lane goes on
     */
    Scripted(int[][] parts, boolean exact) {
        this.parts = parts;
        this.exact = exact;
    }

    @Override
    void begin(Run run) {
        part = 0;
        taken = 0;
    }

    @Override
    int choose(Run run) {
        while (part < parts.length) {
            int o = parts[part][0];
            if (taken == parts[part][1] || !has(run, o)) {
                if (exact && taken != parts[part][1]) {
                    throw new IllegalArgumentException("the schedule does not fit: at step " + run.steps + " lane " + Run.lane(o)
                            + " cannot go on");
                }
                part++;
                taken = 0;
                continue;
            }
            taken++;
            return o;
        }
        return calm(run);
    }

    private static boolean has(Run run, int option) {
        for (int i = 0; i < run.optionCount; i++) {
            if (run.options[i] == option) {
                return true;
            }
        }
        return false;
    }
}
