// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.util.BitSet;
import java.util.List;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.Topology;
import org.gmp4j.queue.Places;
import org.jspecify.annotations.Nullable;

/**
 * Assigns the machine's CPUs to Ps by a policy, and again when the CPUs that the process may use have changed: by {@code taskset}, by a
 * cpuset, or because a CPU went offline or online.
 *
 * @param affinity the policy
 * @param cpus the CPUs that the process could use at the time of the assignment
 */
public record CpuAssignment(Affinity affinity, BitSet cpus) implements Placement.Dealer {
    /** Returns the placement for the CPUs that the process may use now. {@code affinity} is null for {@link Affinity#none}. */
    public static Placement deal(@Nullable Affinity affinity) {
        return affinity == null || affinity.equals(Affinity.none()) ? Placement.NONE : dealt(affinity, Topology.system());
    }

    private static Placement dealt(Affinity affinity, Topology topology) {
        List<BitSet> places = affinity.places(topology);
        BitSet used = new BitSet();
        places.forEach(used::or);
        int most = affinity.limitsProcs() ? Math.min(used.cardinality(), Config.MOST_PROCS) : Config.MOST_PROCS;
        return new Placement(places, Places.of(places, topology), most, new CpuAssignment(affinity, topology.allowed()));
    }

    @Override
    public @Nullable Placement again() {
        return Topology.systemCpus().equals(cpus) ? null : dealt(affinity, Topology.system());
    }
}
