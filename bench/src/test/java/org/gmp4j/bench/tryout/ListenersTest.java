// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

class ListenersTest {
    private static final List<String> TABLE = List.of(
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0",
            "   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0 100 0 0 10 0",
            "   2: 0100007F:1F91 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 13 1 0 100 0 0 10 0",
            "   3: 00000000000000000000000001000000:01BB 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 14 1 0 100",
            "   4: 00000000000000000000000000000000:01BC 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 15 1 0 100");

    @Test
    void table() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        assertEquals(Map.of(
                11L, new InetSocketAddress("127.0.0.1", 8080),
                12L, new InetSocketAddress(loopback, 80),
                14L, new InetSocketAddress("::1", 443),
                15L, new InetSocketAddress(loopback, 444)), Listeners.parse(TABLE));
        assertEquals(Map.of(), Listeners.parse(List.of()));
    }

    /** Of this process, and no longer when it is closed. */
    @Test
    void ourselves() throws Exception {
        List<Long> me = List.of(ProcessHandle.current().pid());
        int port;
        try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = s.getLocalPort();
            assertEquals(s.getLocalSocketAddress(), Listeners.of(Listeners.all(), me).get(port));
            assertFalse(Listeners.of(Listeners.all(), List.of(1L + Integer.MAX_VALUE)).containsKey(port), "another process's");
        }
        assertFalse(Listeners.of(Listeners.all(), me).containsKey(port));
    }
}
