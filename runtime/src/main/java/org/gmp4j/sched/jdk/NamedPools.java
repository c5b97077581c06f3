// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import org.gmp4j.sched.base.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Assigns the virtual threads of the default scheduler to pools, by their names. A pool is a scheduler of its own, with its own Ps.
 *
 * <p>A thread is assigned when it is started, and keeps its scheduler. A thread whose name matches no pool belongs to the scheduler of the
 * goroutine that made the thread, or to the default scheduler when a platform thread made it.
 */
public final class NamedPools {
    /** Written once, before the default scheduler takes the place of the JDK's, and read at each start of a thread. Null for no pools. */
    private static volatile Pool @Nullable [] pools;

    /**
     * A pool.
     *
     * @param s its scheduler, which never closes
     * @param names the names of its threads; a name that ends with {@code *} stands for all names that begin with the text before the
     *     {@code *}
     */
    public record Pool(Scheduler s, String... names) {
        boolean has(String thread) {
            for (String name : names) {
                int last = name.length() - 1;
                if (name.charAt(last) == '*' ? thread.regionMatches(0, name, 0, last) : thread.equals(name)) {
                    return true;
                }
            }
            return false;
        }
    }

    private NamedPools() {
    }

    /** Sets the pools. A thread goes to the first pool that has its name. */
    public static void set(Pool... all) {
        for (Pool p : all) {
            p.s.inPlaceOfJdk = true;
        }
        pools = all;
    }

    /**
     * Returns the scheduler for a virtual thread that is being started: the scheduler of the first pool with the thread's name, or else
     * {@code s}, with which the thread was made. Allocates nothing.
     */
    static Scheduler of(Scheduler s, Thread virtualThread) {
        Pool @Nullable [] all = pools;
        if (all == null || !s.inPlaceOfJdk) {
            return s;
        }
        String name = virtualThread.getName();
        for (Pool p : all) {
            if (p.has(name)) {
                return p.s;
            }
        }
        return s;
    }
}
