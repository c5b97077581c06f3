// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import org.gmp4j.Gmp;

/** One size of a series, set up on a scheduler of its own. For one thread. */
abstract class Load implements AutoCloseable {
    final Gmp gmp;

    Load(int procs) {
        gmp = Gmp.builder().procs(procs).build();
    }

    /** Does the work, and returns the number of operations. Called in a goroutine. */
    abstract long run();

    /** Lets waiting goroutines end. Called in a goroutine. */
    void end() {
    }

    @Override
    public final void close() {
        gmp.run(this::end);
        gmp.close();
    }

    /** Ends the process at a wrong result. An exception would end only its goroutine. */
    static void check(boolean right, String what) {
        if (!right) {
            wrong(what);
        }
    }

    private static void wrong(String what) {
        System.err.println("wrong result: " + what);
        Runtime.getRuntime().halt(1);
    }
}
