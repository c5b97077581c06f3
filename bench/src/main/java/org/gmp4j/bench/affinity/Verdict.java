// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.affinity;

/** What may be said of a variant beside the first one. */
enum Verdict {
    FASTER("faster"),
    SLOWER("slower"),
    NOTHING("no difference shown");

    private final String text;

    Verdict(String text) {
        this.text = text;
    }

    /**
     * Of a ratio of times, below 1 for less time, and of the same ratio of the first variant to itself, which is noise. The interval
     * must lie wholly on one side of 1, and its median outside of what the noise reaches, to either side.
     */
    static Verdict of(Bootstrap ratio, Bootstrap noise) {
        double reach = Math.max(noise.high(), 1 / noise.low());
        if (ratio.high() < 1 && ratio.median() < 1 / reach) {
            return FASTER;
        }
        return ratio.low() > 1 && ratio.median() > reach ? SLOWER : NOTHING;
    }

    @Override
    public String toString() {
        return text;
    }
}
