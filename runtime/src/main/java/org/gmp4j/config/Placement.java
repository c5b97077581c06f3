// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.util.BitSet;
import java.util.List;

import org.gmp4j.queue.Places;
import org.jspecify.annotations.Nullable;

/**
 * The CPUs of a scheduler's Ps. When the set of CPUs that the process may use has changed, the whole placement is replaced while the world
 * is stopped. Each M moves to its new CPUs when it gets its next P.
 *
 * @param sets the CPUs of P 0, P 1, …; further Ps begin again with the first set; empty when Ms run on any CPU
 * @param places the distances between Ps; null when Ms run on any CPU
 * @param mostProcs the greatest number of Ps, unless the number is set
 * @param dealer makes the next placement
 */
public record Placement(List<BitSet> sets, @Nullable Places places, int mostProcs, Dealer dealer) {
    /** The placement with which Ms run on any CPU. */
    public static final Placement NONE = new Placement(List.of(), null, Config.MOST_PROCS, new Fixed());

    /** Makes a new placement if the CPUs have changed. */
    @FunctionalInterface
    public interface Dealer {
        /** Returns a new placement; null when the CPUs have not changed. Sysmon calls it at most once a second. */
        @Nullable Placement again();
    }

    /** A dealer that changes nothing. It is not a lambda, because the JVM would generate a class for it while a scheduler starts. */
    private record Fixed() implements Dealer {
        @Override
        public @Nullable Placement again() {
            return null;
        }
    }

    /** Returns the index of a P's CPUs in {@link #sets}, which must not be empty. */
    public int slot(int p) {
        return p % sets.size();
    }

    /** Returns the NUMA node that has all CPUs of a P; -1 if none has, if the machine has one node, or if Ms run on any CPU. */
    public int node(int p) {
        return places == null ? -1 : places.node(p);
    }
}
