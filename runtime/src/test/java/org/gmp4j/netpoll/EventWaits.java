// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;

/** Waits for event descriptors, as the JDK's sockets wait for theirs. */
final class EventWaits {
    static final JdkWaits WAITS = JdkWaits.INSTANCE;

    private EventWaits() {
    }

    static void register(int fd, boolean write) {
        try {
            assertTrue(WAITS.register(fd, write));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits as {@code sun.nio.ch.Poller.poll} does; 0 nanoseconds without limit. Takes what the descriptor has. */
    static long await(int fd, long nanos) {
        for (;;) {
            long n = EventFd.take(fd);
            if (n > 0) {
                return n;
            }
            register(fd, false);
            if (nanos == 0) {
                LockSupport.park();
            } else {
                LockSupport.parkNanos(nanos);
            }
            assertTrue(WAITS.deregister(fd, false));
            if (nanos != 0) {
                return EventFd.take(fd);
            }
        }
    }

    static void add(int fd) {
        assertEquals(0, EventFd.add(fd, 1));
    }

    static int waiters(TestGmp gmp) {
        return Schedt.NETPOLLWAITERS.getVolatile(gmp.scheduler().sched);
    }

    static void awaitWaiters(TestGmp gmp, int n) {
        while (waiters(gmp) != n) {
            Thread.onSpinWait();
        }
    }
}
