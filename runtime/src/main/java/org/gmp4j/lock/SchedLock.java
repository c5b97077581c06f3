// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import org.gmp4j.struct.Schedt;

/**
 * {@code sched.lock}: guards the global run queue, the lists of idle Ms and Ps and of free Gs, how many Ms there are, and the steps in
 * which a world stops and a scheduler ends.
 */
public final class SchedLock {
    private SchedLock() {
    }

    /** Takes it. */
    public static void lock(long sched) {
        RuntimeMutex.lock(Schedt.lockAddress(sched), LockRank.SCHED);
    }

    /** Gives it back. */
    public static void unlock(long sched) {
        RuntimeMutex.unlock(Schedt.lockAddress(sched), LockRank.SCHED);
    }
}
