// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.util.BitSet;
import java.util.List;

import org.gmp4j.queue.Places;
import org.jspecify.annotations.Nullable;

/**
 * The CPUs of a scheduler's Ps. The placement is replaced as a whole, with the world stopped, when the CPUs that the process may use have
 * changed. Each M moves to its new CPUs when it gets its next P.
 *
 * @param sets the CPUs of P 0, P 1, …; further Ps begin again with the first set; empty when Ms run on any CPU
 * @param places the distances between Ps; null when Ms run on any CPU
 * @param mostProcs the greatest number of Ps unless the number is set by hand
 * @param dealer makes the next placement
 */
public record Placement(List<BitSet> sets, @Nullable Places places, int mostProcs, Dealer dealer) {
    /** Ms run on any CPU. */
    public static final Placement NONE = new Placement(List.of(), null, Config.MOST_PROCS, new Fixed());

    /** Checks whether the CPUs have changed. */
    @FunctionalInterface
    public interface Dealer {
        /** Returns a new placement, or null when the CPUs have not changed. Called on sysmon's thread, once a second. */
        @Nullable Placement again();
    }

    /** A dealer without changes. It is not a lambda, because the JVM would generate a class for it while a scheduler starts. */
    private record Fixed() implements Dealer {
        @Override
        public @Nullable Placement again() {
            return null;
        }
    }

    /** Returns the index of a P's entry in {@link #sets}. */
    public int slot(int p) {
        return p % sets.size();
    }

    /** Returns the NUMA node of all CPUs of a P; -1 when they are of several nodes, or the machine has only one. */
    public int node(int p) {
        return places == null ? -1 : places.node(p);
    }
}
