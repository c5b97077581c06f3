// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import org.gmp4j.Gmp;

/** One size of a series, set up on a scheduler of its own. For one thread. */
abstract class Load implements AutoCloseable {
    final Gmp gmp;

    Load(int procs) {
        gmp = Gmp.builder().procs(procs).build();
    }

    /** Called in a goroutine: does it, and returns how many operations that were. */
    abstract long run();

    /** Called in a goroutine: lets those end that wait. */
    void end() {
    }

    @Override
    public final void close() {
        gmp.run(this::end);
        gmp.close();
    }

    /** A wrong result ends the process: an exception would end only the goroutine that it comes to. */
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
