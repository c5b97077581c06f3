// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.lang.reflect.Field;

import org.gmp4j.netpoll.PollFd;
import org.gmp4j.wait.Sema;

/** Reads what no method of production code tells, when a run is over. */
final class Inside {
    /** The bits of a descriptor's users without that for a close. */
    private static final long USERS = ~1L;

    private Inside() {
    }

    private static Object field(Object of, String name) {
        try {
            Field f = of.getClass().getDeclaredField(name);
            f.setAccessible(true);
            return f.get(of);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns whether nobody uses a descriptor or is counted as waiting for its turn, and no turn is given out. */
    static boolean isAtRest(PollFd fd) {
        Object users = field(fd, "users");
        return ((long) field(users, "state") & USERS) == 0 && !((Sema) field(users, "readers")).take()
                && !((Sema) field(users, "writers")).take();
    }
}
