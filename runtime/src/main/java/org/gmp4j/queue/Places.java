// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

import org.gmp4j.affinity.Topology;
import org.jspecify.annotations.Nullable;

/**
 * The places of Ps on a machine, and so the distances between them. A place is a set of CPUs. P number i has place i of a list, modulo
 * the length of the list. A place of several CPUs is in a core, cache or node only if all of its CPUs are. Immutable.
 */
public final class Places {
    /** The distance from one P to another. */
    public enum Distance {
        /** On one CPU, or on CPUs of one core. */
        CORE,
        /** In different cores that share their last cache. */
        CACHE,
        /** In one NUMA node, with different caches. */
        NODE,
        /** In different nodes of one package. */
        PACKAGE,
        /** None of these. */
        REMOTE
    }

    /** The number of distances. */
    public static final int DISTANCES = Distance.values().length;

    private static final int UNKNOWN = -1;
    private static final int NODE = 1;

    /** For each place the numbers of the package, node, cache and core that contain all its CPUs; {@link #UNKNOWN} if none does. */
    private final int[][] keys;

    private final boolean severalNodes;

    private Places(int[][] keys, boolean severalNodes) {
        this.keys = keys;
        this.severalNodes = severalNodes;
    }

    /**
     * Returns the places of Ps on a machine.
     *
     * @param sets the CPUs of each place; neither the list nor a set in it is empty
     */
    public static Places of(List<BitSet> sets, Topology topology) {
        Topology.Cpu[] cpus = new Topology.Cpu[topology.online().length()];
        for (Topology.Cpu c : topology.cpus()) {
            cpus[c.id()] = c;
        }
        int[][] keys = new int[sets.size()][];
        for (int i = 0; i < keys.length; i++) {
            int[] common = null;
            for (int c = sets.get(i).nextSetBit(0); c >= 0; c = sets.get(i).nextSetBit(c + 1)) {
                if (c < cpus.length && cpus[c] != null) {
                    common = common(common, key(cpus[c]));
                }
            }
            keys[i] = common == null ? new int[] {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN} : common;
        }
        return new Places(keys, topology.nodes().size() > 1);
    }

    private static int[] key(Topology.Cpu c) {
        return new int[] {c.socket(), c.node(), c.cacheGroup(), c.coreGroup()};
    }

    /**
     * Changes {@code a} to the key of the smallest unit that contains both places, and returns it. Returns {@code b} if {@code a} is null.
     * If the packages differ, so do the nodes, caches and cores.
     */
    private static int[] common(int @Nullable [] a, int[] b) {
        if (a == null) {
            return b;
        }
        boolean same = true;
        for (int part = 0; part < a.length; part++) {
            same &= a[part] == b[part];
            a[part] = same ? a[part] : UNKNOWN;
        }
        return a;
    }

    /** Returns the distance from one P to another. */
    public Distance between(int p, int q) {
        int[] a = keys[p % keys.length];
        int[] b = keys[q % keys.length];
        int same = 0;
        while (same < a.length && a[same] == b[same] && a[same] != UNKNOWN) {
            same++;
        }
        return Distance.values()[a.length - same];
    }

    /** Returns the NUMA node of a P's CPUs; -1 when they span several nodes, or the machine has one node. */
    public int node(int p) {
        return severalNodes ? keys[p % keys.length][NODE] : UNKNOWN;
    }

    /**
     * Returns the ids of {@code procs} Ps, sorted. The Ps of one package are next to each other. Within a package the Ps of one node are
     * next to each other, within a node the Ps of one cache, and within a cache the Ps of one core.
     */
    int[] sorted(int procs) {
        Integer[] ids = new Integer[procs];
        for (int i = 0; i < procs; i++) {
            ids[i] = i;
        }
        Arrays.sort(ids, new ByPlace(keys)); // The sort is stable, so the Ps of one core are in the order of their ids.
        int[] sorted = new int[procs];
        for (int i = 0; i < procs; i++) {
            sorted[i] = ids[i];
        }
        return sorted;
    }

    /** Compares Ps by place. It is not a lambda, because the JVM would generate the class of a lambda while a scheduler starts. */
    private record ByPlace(int[][] keys) implements Comparator<Integer> {
        @Override
        public int compare(Integer p, Integer q) {
            return Arrays.compare(keys[p % keys.length], keys[q % keys.length]);
        }
    }
}
