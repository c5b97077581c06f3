// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.gmp4j.Gmp;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The page for Prometheus, and clients that would keep others from it. */
class MetricsServerTest {
    private static final int CLIENTS = 1_000;

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static Socket connect(InetSocketAddress server) throws IOException {
        return new Socket(server.getAddress(), server.getPort());
    }

    private static String all(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        return new String(in.readAllBytes(), ISO_8859_1);
    }

    private static String ask(MetricsServer server, String request) throws IOException {
        return ask(server.address(), request);
    }

    static String ask(InetSocketAddress server, String request) throws IOException {
        return ask(server, request, "localhost");
    }

    static String ask(InetSocketAddress server, String request, String host) throws IOException {
        try (Socket s = connect(server)) {
            s.getOutputStream().write((request + "\r\nHost: " + host + "\r\nConnection: close\r\n\r\n").getBytes(ISO_8859_1));
            return all(s);
        }
    }

    /** Returns whether there is no page with a path that begins with two slashes. From JDK 26 on the JDK's server refuses it itself. */
    static boolean hasNone(String answer) {
        return answer.startsWith("HTTP/1.1 404 ") || answer.startsWith("HTTP/1.1 400 ");
    }

    @Test
    void onePageAndNothingElse() throws IOException {
        try (TestGmp g = TestGmp.procs(2); MetricsServer server = MetricsServer.start(anyPort())) {
            String page = ask(server, "GET /metrics HTTP/1.1");
            assertTrue(page.startsWith("HTTP/1.1 200 OK\r\n"), page);
            assertTrue(page.contains("text/plain; version=0.0.4"), page);
            assertTrue(page.contains("\ngmp_sched_gomaxprocs_threads{scheduler=\"" + g.scheduler().name() + "\"} 2\n"), page);
            assertTrue(ask(server, "HEAD /metrics HTTP/1.1").endsWith("\r\n\r\n"));
            assertTrue(ask(server, "GET /metrics?name=x HTTP/1.1").startsWith("HTTP/1.1 200 "));
            for (String other : new String[] {"/", "/metrics/", "/metricsx", "/metrics/../etc/passwd", "/%2e%2e/etc/passwd"}) {
                assertTrue(ask(server, "GET " + other + " HTTP/1.1").startsWith("HTTP/1.1 404 "), other);
            }
            assertTrue(hasNone(ask(server, "GET //metrics HTTP/1.1")));
            for (String method : new String[] {"POST", "PUT", "DELETE", "TRACE", "BREW"}) {
                assertTrue(ask(server, method + " /metrics HTTP/1.1").startsWith("HTTP/1.1 405 "), method);
            }
        }
    }

    /** Whatever they send, and however many begin a request and do not end it, the next is answered. */
    @Test
    void garbageAndSlowClients() throws IOException {
        try (MetricsServer server = MetricsServer.start(anyPort())) {
            garbageAndSlowClients(server.address(), "/metrics");
        }
    }

    static void garbageAndSlowClients(InetSocketAddress server, String page) throws IOException {
        Random random = new Random(1);
        for (int i = 0; i < 50; i++) {
            byte[] garbage = new byte[1 + random.nextInt(2_000)];
            random.nextBytes(garbage);
            try (Socket s = connect(server)) {
                s.getOutputStream().write(garbage);
            } catch (IOException refused) {
                continue;
            }
        }
        for (String bad : new String[] {"GET", "GET " + page, "GET " + page + " HTTP/9.9", "GET http://[ HTTP/1.1",
                "GET " + page + " HTTP/1.1\r\nContent-Length: -1", "GET " + page + " HTTP/1.1\r\nTransfer-Encoding: nonsense"}) {
            assertFalse(ask(server, bad).contains("\tat "), bad);
        }
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < CLIENTS; i++) {
                Socket s = connect(server);
                s.getOutputStream().write((i % 2 == 0 ? "G" : "GET " + page + " HTTP/1.1\r\nX: ").getBytes(ISO_8859_1));
                slow.add(s);
            }
            for (int i = 0; i < 3; i++) {
                assertTrue(ask(server, "GET " + page + " HTTP/1.1").startsWith("HTTP/1.1 200 "));
            }
        } finally {
            for (Socket s : slow) {
                s.close();
            }
        }
    }

    @Test
    void aSlowClientIsCutOff() throws IOException {
        try (MetricsServer server = MetricsServer.start(anyPort()); Socket first = connect(server.address())) {
            first.getOutputStream().write("GET /".getBytes(ISO_8859_1));
            List<Socket> slow = new ArrayList<>();
            try {
                for (int i = 0; i < 64; i++) {
                    Socket s = connect(server.address());
                    s.getOutputStream().write("GET /".getBytes(ISO_8859_1));
                    slow.add(s);
                }
                first.setSoTimeout(60_000);
                try {
                    assertEquals("", all(first)); // Closed, without an answer.
                } catch (SocketException reset) {
                    return;
                }
            } finally {
                for (Socket s : slow) {
                    s.close();
                }
            }
        }
    }

    @Test
    void aPortInUse() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            InetSocketAddress there = new InetSocketAddress(InetAddress.getLoopbackAddress(), taken.getLocalPort());
            String message = assertThrows(IllegalArgumentException.class, () -> Gmp.builder().procs(1).metrics(there).build())
                    .getMessage();
            assertEquals("metrics cannot be served at " + there.getHostString() + ":" + taken.getLocalPort()
                    + ": Address already in use", message);
        }
    }

    /** Two schedulers with the same address have one server, and it ends with the second. */
    @Test
    void itLivesAsLongAsItsSchedulers() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        Gmp first = Gmp.builder().procs(1).metrics(address).build();
        Gmp second = Gmp.builder().procs(1).debug("metrics=" + port).build();
        first.close();
        first.close();
        MetricsServer same = MetricsServer.shared(address);
        assertTrue(ask(same, "GET /metrics HTTP/1.1").startsWith("HTTP/1.1 200 "));
        same.close();
        same.close(); // The second's is not closed by that.
        assertTrue(ask(same, "GET /metrics HTTP/1.1").startsWith("HTTP/1.1 200 "));
        second.close();
        assertThrows(ConnectException.class, () -> new Socket(address.getAddress(), port).close());
    }
}
