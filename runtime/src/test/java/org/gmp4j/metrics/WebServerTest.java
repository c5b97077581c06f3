// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

/** The server of the live page and of the metrics. */
class WebServerTest {
    private static WebServer.Pages pages(WebServer.Background background) {
        return new WebServer.Pages("a test", "gmp-test", true, Map.of(), Map.of("/", WebServer.Page.of("text/plain", () -> new byte[0])),
                background);
    }

    /** A server whose work cannot start, as without memory for it, leaves nothing behind: no port, no thread. */
    @Test
    void itsWorkDoesNotStart() throws IOException {
        InetSocketAddress address;
        try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            address = new InetSocketAddress(InetAddress.getLoopbackAddress(), s.getLocalPort());
        }
        AtomicInteger stopped = new AtomicInteger();
        WebServer.Background fails = new WebServer.Background() {
            @Override
            public void start() {
                throw new OutOfMemoryError("of the test");
            }

            @Override
            public void stop() {
                stopped.incrementAndGet();
            }
        };
        for (int i = 1; i <= 2; i++) {
            assertThrows(OutOfMemoryError.class, () -> WebServer.start(pages(fails), address));
            assertEquals(i, stopped.get());
        }
        WebServer.start(pages(WebServer.Background.NONE), address).close(); // The port is free.
    }
}
