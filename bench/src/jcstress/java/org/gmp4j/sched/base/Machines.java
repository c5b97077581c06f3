// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

/** Makes Ms for tests of other packages. */
public final class Machines {
    private Machines() {
    }

    /** Returns the Java side of {@code mp}; in no list of a scheduler. */
    public static Machine of(long mp) {
        return new Machine(null, mp);
    }
}
