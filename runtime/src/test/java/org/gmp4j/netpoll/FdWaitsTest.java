// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** What a descriptor knows of the pollers in which it is registered. */
class FdWaitsTest {
    private static int registrations(PollFd fd) {
        int n = 0;
        for (Registration r = fd.registrations; r != null; r = r.next) {
            n++;
        }
        return n;
    }

    /** One that outlives many schedulers keeps nothing of them. */
    @Test
    void schedulersThatHaveEndedAreForgotten() {
        int events = EventFd.create();
        PollFd fd = new PollFd(events);
        try (TestGmp lasting = TestGmp.procs(1)) {
            for (int i = 0; i < 10; i++) {
                wait(lasting, fd, events);
                try (TestGmp gmp = TestGmp.procs(1)) {
                    wait(gmp, fd, events);
                    wait(lasting, fd, events);
                }
            }
            assertEquals(2, registrations(fd)); // The last that ended is still there.
        }
        assertTrue(fd.close());
    }

    /** A goroutine waits for the descriptor, and is woken. */
    private static void wait(TestGmp gmp, PollFd fd, int events) {
        gmp.run(() -> {
            EventWaits.add(events);
            assertEquals(0, fd.await(false, OpLimits.PLAIN));
            assertEquals(1, EventFd.take(events));
        });
    }
}
