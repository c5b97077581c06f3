// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.ffi.Sockets;
import org.gmp4j.wait.Limits;
import org.junit.jupiter.api.Test;

/** Interrupts that come at moments that are hard to meet; the other tests are {@code NetEndingsTest}. */
class FdInterruptTest {
    /** Its wait is over; another reader may have the turn. */
    @Test
    void oneThatComesLateEndsNothing() {
        PollFd fd = new PollFd(Sockets.udp(false));
        FdWaits.EarlyEnd wait = fd.new EarlyEnd(Limits.DEFAULT, false);
        wait.start();
        wait.interrupted();
        assertEquals(IoResult.INTERRUPTED, fd.check(false));
        assertEquals(0, fd.check(true), "the other direction");
        wait.over();
        assertEquals(0, fd.check(false));
        FdWaits.EarlyEnd next = fd.new EarlyEnd(Limits.DEFAULT, false);
        next.start();
        next.over();
        next.interrupted();
        assertEquals(0, fd.check(false));
    }

    /** It has begun, and does not wait yet. */
    @Test
    void oneThatComesEarlyEndsTheWait() {
        PollFd fd = new PollFd(Sockets.udp(false));
        FdWaits.EarlyEnd wait = fd.new EarlyEnd(Limits.DEFAULT, true);
        wait.interrupted();
        assertEquals(0, fd.check(true));
        wait.start();
        assertEquals(IoResult.INTERRUPTED, fd.check(true));
        wait.over();
        assertTrue(fd.close());
        assertEquals(IoResult.CLOSED, fd.check(false));
    }
}
