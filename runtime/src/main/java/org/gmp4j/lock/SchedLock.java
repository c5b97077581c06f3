// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import org.gmp4j.struct.Schedt;

/**
 * {@code sched.lock}: guards the global run queue, the lists of idle Ms and Ps and of free Gs, the number of Ms, and the steps in which
 * a world stops and a scheduler ends.
 */
public final class SchedLock {
    private SchedLock() {
    }

    /** Takes the lock. */
    public static void lock(long sched) {
        RuntimeMutex.lock(Schedt.lockAddress(sched), LockRank.SCHED);
    }

    /** Releases the lock. */
    public static void unlock(long sched) {
        RuntimeMutex.unlock(Schedt.lockAddress(sched), LockRank.SCHED);
    }
}
