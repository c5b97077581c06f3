// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.function.IntSupplier;

import org.gmp4j.affinity.Topology;
import org.gmp4j.config.Config;

/** How many Ps there can be and should be. */
final class Procs {
    /** Most Ps of a scheduler. */
    static final int MAX = Config.MOST_PROCS;

    private Procs() {
    }

    /**
     * Returns {@code n}.
     *
     * @throws IllegalArgumentException when it is no number of Ps
     */
    static int check(int n) {
        if (n < 1 || n > MAX) {
            throw new IllegalArgumentException("procs is " + n + ": use 1 to " + MAX);
        }
        return n;
    }

    /** As {@link #numCPU}, for sysmon, which asks again and again. */
    static final class OfSystem implements IntSupplier {
        private final IntSupplier procs = Topology.followedProcs();

        @Override
        public int getAsInt() {
            return Math.min(MAX, procs.getAsInt());
        }
    }

    /** What affinity mask and cgroup limits leave to this process now. */
    static int numCPU() {
        return Math.min(MAX, Topology.systemProcs());
    }
}
