// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
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

    /** A body that fails midway is no whole answer: the client sees that its connection breaks. */
    @Test
    void aBodyBreaksOff() throws IOException {
        WebServer.Page page = new WebServer.Page(false, _ -> WebServer.Answer.of("text/plain", (WebServer.Body) out -> {
            out.write("the beginning".getBytes(UTF_8));
            throw new OutOfMemoryError("of the test");
        }));
        WebServer server = WebServer.start(new WebServer.Pages("a test", "gmp-test", true, Map.of(), Map.of("/", page),
                WebServer.Background.NONE), new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        try (Socket s = new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            s.getOutputStream().write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".getBytes(UTF_8));
            String got = new String(s.getInputStream().readAllBytes(), UTF_8);
            assertFalse(got.endsWith("\r\n0\r\n\r\n"), got);
        } finally {
            server.close();
        }
    }
}
