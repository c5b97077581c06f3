// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;

import org.gmp4j.SpinPolicy;
import org.gmp4j.affinity.Affinity;

/**
 * What was asked for, checked.
 *
 * @param procs Ps, at least 2
 * @param affinity where they are pinned
 * @param spins the policies, one after the other
 * @param samples most samples of a run
 * @param nanos how long all runs may take together, warm-up not counted
 */
record Settings(int procs, Affinity affinity, List<SpinPolicy> spins, long samples, long nanos) {
    private static final int SHOWN = 8;

    /** Returns the CPUs of each P. */
    String pinning() {
        List<BitSet> place = affinity.place(procs);
        if (place.isEmpty()) {
            return "none: the kernel places the threads, and may move them";
        }
        StringBuilder text = new StringBuilder(affinity.toString()).append(":");
        for (int i = 0; i < Math.min(procs, SHOWN); i++) {
            BitSet cpus = place.get(i);
            text.append(i == 0 ? " P " : ", P ").append(i).append(cpus.cardinality() == 1 ? " on CPU " : " on CPUs ");
            text.append(cpus.stream().mapToObj(Integer::toString).collect(Collectors.joining(",")));
        }
        return procs > SHOWN ? text + ", and so on" : text.toString();
    }

    /** Returns whether two Ps share a CPU while there are others: then one waits for the other. */
    boolean crowded() {
        List<BitSet> place = affinity.place(procs);
        BitSet all = new BitSet();
        place.forEach(all::or);
        return !place.isEmpty() && all.cardinality() < procs;
    }

    /** Returns the policies' names. */
    String spinNames() {
        return spins.stream().map(SpinPolicy::toString).collect(Collectors.joining(", "));
    }
}
