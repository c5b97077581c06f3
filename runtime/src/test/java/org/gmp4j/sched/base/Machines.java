// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

/** Makes Ms for tests of other packages. */
public final class Machines {
    private Machines() {
    }

    /** The Java side of {@code mp}; in no list of the scheduler. */
    public static Machine of(Scheduler s, long mp) {
        return new Machine(s, mp);
    }
}
