// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.RuntimeMutex;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.SudogSlots;

/**
 * The free sudogs. Each P keeps up to {@value #LOCAL}, which its owner takes and puts back without a lock. The others are on one list with
 * a lock. All schedulers of the process share that list, because a channel may connect goroutines of several schedulers, and plain threads.
 */
public final class SudogCache {
    private static final int LOCAL = 128;
    private static final int BATCH = 64;

    private static final long LOCK = org.gmp4j.ffi.Memory.map(Mem.LINE);
    private static long central; // The common list, linked by waitlink. Accessed under LOCK.

    private SudogCache() {
    }

    /**
     * {@code acquireSudog}: takes a free sudog.
     *
     * @param pp the caller's P, or 0 when it has none
     * @throws OutOfMemoryError when there is no free sudog and no memory for more; nothing has changed
     */
    public static long acquire(long pp) {
        if (pp == 0) {
            RuntimeMutex.lock(LOCK, LockRank.SUDOG);
            try {
                return takeCentral();
            } finally {
                RuntimeMutex.unlock(LOCK, LockRank.SUDOG);
            }
        }
        int n = P.SUDOGN.get(pp);
        if (n == 0) {
            RuntimeMutex.lock(LOCK, LockRank.SUDOG);
            try {
                for (; n < BATCH; n++) {
                    push(pp, takeCentral());
                }
            } catch (OutOfMemoryError e) {
                if (n == 0) {
                    throw e;
                }
            } finally {
                RuntimeMutex.unlock(LOCK, LockRank.SUDOG);
            }
        }
        P.SUDOGN.set(pp, n - 1);
        return pop(pp);
    }

    /** {@code releaseSudog}: puts back a sudog that is in no queue and has no waker. {@code pp} is the caller's P, or 0. */
    public static void release(long pp, long sg) {
        SudogSlots.setElem(sg, null);
        Sudog.G.set(sg, 0);
        Sudog.NEXT.set(sg, 0);
        Sudog.PREV.set(sg, 0);
        Sudog.SUCCESS.set(sg, 0);
        Sudog.TICKET.set(sg, 0);
        Sudog.ISSELECT.set(sg, 0);
        if (pp == 0) {
            RuntimeMutex.lock(LOCK, LockRank.SUDOG);
            giveCentral(sg);
            RuntimeMutex.unlock(LOCK, LockRank.SUDOG);
            return;
        }
        push(pp, sg);
        int n = P.SUDOGN.get(pp) + 1;
        if (n > LOCAL) {
            n -= BATCH;
            purge(pp, BATCH);
        }
        P.SUDOGN.set(pp, n);
    }

    /** Moves all of a P's free sudogs to the common list. Called with the world stopped, or after the scheduler has ended. */
    public static void purge(long pp) {
        purge(pp, P.SUDOGN.get(pp));
        P.SUDOGN.set(pp, 0);
    }

    private static void purge(long pp, int count) {
        RuntimeMutex.lock(LOCK, LockRank.SUDOG);
        for (int i = 0; i < count; i++) {
            giveCentral(pop(pp));
        }
        RuntimeMutex.unlock(LOCK, LockRank.SUDOG);
    }

    private static void push(long pp, long sg) {
        Sudog.WAITLINK.set(sg, P.SUDOGCACHE.get(pp));
        P.SUDOGCACHE.set(pp, sg);
    }

    private static long pop(long pp) {
        long sg = P.SUDOGCACHE.get(pp);
        P.SUDOGCACHE.set(pp, Sudog.WAITLINK.get(sg));
        Sudog.WAITLINK.set(sg, 0);
        return sg;
    }

    private static long takeCentral() {
        if (central == 0) {
            central = SudogSlots.grow();
        }
        long sg = central;
        central = Sudog.WAITLINK.get(sg);
        Sudog.WAITLINK.set(sg, 0);
        return sg;
    }

    private static void giveCentral(long sg) {
        Sudog.WAITLINK.set(sg, central);
        central = sg;
    }
}
