// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.util.BitSet;
import java.util.List;

import org.gmp4j.queue.Places;
import org.jspecify.annotations.Nullable;

/**
 * The CPUs of a scheduler's Ps. It is replaced as a whole, with the world stopped, when those that the process may use have changed: each M
 * goes to its new CPUs when it gets its next P.
 *
 * @param sets those of P 0, P 1, …, and round again; empty when Ms roam
 * @param places how far apart Ps are; null when Ms roam
 * @param mostProcs how many Ps there are at most while their number is not set by hand
 * @param dealer makes the next one
 */
public record Placement(List<BitSet> sets, @Nullable Places places, int mostProcs, Dealer dealer) {
    /** Ms roam. */
    public static final Placement NONE = new Placement(List.of(), null, Config.MOST_PROCS, new Fixed());

    /** Looks whether the CPUs are still there. */
    @FunctionalInterface
    public interface Dealer {
        /** A new placement, or null when nothing has changed since this one was made. On sysmon's thread, once a second. */
        @Nullable Placement again();
    }

    /** Not a lambda, which would have the JVM generate a class while a scheduler starts. */
    private record Fixed() implements Dealer {
        @Override
        public @Nullable Placement again() {
            return null;
        }
    }

    /** Which entry of {@link #sets} is that of a P. */
    public int slot(int p) {
        return p % sets.size();
    }

    /** The NUMA node of all CPUs of a P; -1 when there is none, or the machine has but one. */
    public int node(int p) {
        return places == null ? -1 : places.node(p);
    }
}
