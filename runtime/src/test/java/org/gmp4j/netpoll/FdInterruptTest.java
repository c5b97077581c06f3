// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.ffi.Sockets;
import org.junit.jupiter.api.Test;

/** Interrupts that come at moments that are hard to meet; the other tests are {@code NetEndingsTest}. */
class FdInterruptTest {
    /** Its wait is over; the turn may be somebody else's. */
    @Test
    void oneThatComesLateEndsNothing() {
        PollFd fd = new PollFd(Sockets.udp(false));
        FdWaits.Interruption wait = fd.new Interruption(false);
        wait.interrupted();
        assertEquals(IoResult.INTERRUPTED, fd.check(false));
        assertEquals(0, fd.check(true), "the other direction");
        wait.over();
        assertEquals(0, fd.check(false));
        wait.interrupted();
        assertEquals(0, fd.check(false));
        assertTrue(fd.close());
        assertEquals(IoResult.CLOSED, fd.check(false));
    }
}
