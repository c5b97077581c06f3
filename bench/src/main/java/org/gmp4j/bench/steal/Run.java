// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.gmp4j.SpinPolicy;
import org.gmp4j.bench.report.Format;

/**
 * One run: what is measured, and under which setting.
 *
 * @param kind what
 * @param spin the scheduler's spin policy; null for steals, which no policy has a part in
 * @param gapNanos how long to wait between two samples
 * @param batch how many Gs move at once; 0 for a probe that finds nothing
 * @param otherCpu for steals: whether the victim's ring was last written on another CPU
 */
record Run(Kind kind, SpinPolicy spin, long gapNanos, int batch, boolean otherCpu) {
    /** What a run measures. */
    enum Kind {
        /** Taking Gs from another P. */
        STEAL,
        /** From {@code go f()} to f's first instruction on another P. */
        WAKE,
        /** From a channel send to the receiver running on another P. */
        HANDOFF;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final int[] BATCHES = {0, 1, 4, 16, 128};
    private static final long[] WAKE_GAPS = {0, 20_000, 200_000, 1_000_000};
    private static final long[] HANDOFF_GAPS = {0, 200_000};

    /** Returns the steals, those on the same CPU first. */
    static List<Run> steals() {
        List<Run> runs = new ArrayList<>();
        for (boolean other : new boolean[] {false, true}) {
            for (int batch : BATCHES) {
                runs.add(new Run(Kind.STEAL, null, 0, batch, other));
            }
        }
        return runs;
    }

    /** Returns the runs that need a scheduler with this policy. */
    static List<Run> of(SpinPolicy spin) {
        List<Run> runs = new ArrayList<>();
        for (long gap : WAKE_GAPS) {
            runs.add(new Run(Kind.WAKE, spin, gap, 1, true));
        }
        for (long gap : HANDOFF_GAPS) {
            runs.add(new Run(Kind.HANDOFF, spin, gap, 1, true));
        }
        return runs;
    }

    /** Returns the policy's name; {@code none} for steals. */
    String spinName() {
        return spin == null ? "none" : spin.toString();
    }

    /** Returns where a steal's victim is. */
    String victim() {
        return kind != Kind.STEAL ? "" : otherCpu ? "other CPU" : "same CPU";
    }

    /** Returns the name for people: {@code steal 16, other CPU}. */
    String title() {
        if (kind == Kind.STEAL) {
            return (batch == 0 ? "steal, failed probe" : "steal " + batch) + ", " + victim();
        }
        return kind + ", spin " + spinName() + ", gap " + Format.gap(gapNanos);
    }
}
