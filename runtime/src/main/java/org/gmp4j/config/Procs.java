// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.util.function.IntSupplier;

import org.gmp4j.affinity.Topology;

/** Limits the number of Ps and computes its default. */
public final class Procs {
    /** The greatest number of Ps of a scheduler. */
    public static final int MAX = Config.MOST_PROCS;

    private Procs() {
    }

    /**
     * Checks the number of Ps {@code n} and returns it.
     *
     * @throws IllegalArgumentException when {@code n} is not in the range 1 to {@value #MAX}
     */
    public static int check(int n) {
        if (n < 1 || n > MAX) {
            throw new IllegalArgumentException("procs is " + n + ": use 1 to " + MAX);
        }
        return n;
    }

    /** Supplies {@link #numCPU} to sysmon, which reads it repeatedly. */
    public static final class OfSystem implements IntSupplier {
        private final IntSupplier procs = Topology.followedProcs();

        @Override
        public int getAsInt() {
            return Math.min(MAX, procs.getAsInt());
        }
    }

    /** Returns the number of CPUs that the affinity mask and the cgroup limits leave to this process now, at most {@link #MAX}. */
    public static int numCPU() {
        return Math.min(MAX, Topology.systemProcs());
    }
}
