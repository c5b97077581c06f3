// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The client against servers of its kind: one that answers, and others. */
class ClientTest {
    private interface Connection {
        void serve(Socket s, int number) throws IOException;
    }

    private static List<String> client(int port, String rate, String seconds) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Client.run(new String[] {"" + port, "rare", rate, "0", seconds, "1"},
                new PrintStream(out, true, StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static List<String> client(Connection connection) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress())) {
            AtomicInteger accepted = new AtomicInteger();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    for (;;) {
                        Socket s = listener.accept();
                        int number = accepted.getAndIncrement();
                        Thread.ofVirtual().start(() -> {
                            try (s) {
                                connection.serve(s, number);
                            } catch (IOException e) {
                                return; // The client is gone.
                            }
                        });
                    }
                } catch (IOException e) {
                    return; // The test is over.
                }
            });
            return client(listener.getLocalPort(), "1000", "0.3");
        }
    }

    private static void echo(Socket s) throws IOException {
        for (;;) {
            byte[] request = s.getInputStream().readNBytes(Long.BYTES);
            if (request.length < Long.BYTES) {
                return;
            }
            s.getOutputStream().write(request, 0, 3); // In two pieces.
            s.getOutputStream().flush();
            s.getOutputStream().write(request, 3, Long.BYTES - 3);
        }
    }

    @Test
    void figures() throws IOException {
        List<String> said = client((s, number) -> echo(s));
        assertEquals(List.of("begin", "end"), said.subList(0, 2));
        String[] figures = said.get(2).split(" ");
        assertEquals(7, figures.length);
        assertTrue(Long.parseLong(figures[0]) > 0 && Long.parseLong(figures[4]) >= Long.parseLong(figures[3]), said::toString);
    }

    /** A connection that ends while nothing is asked on it is no answer. */
    @Test
    void aServerThatLeaves() throws IOException {
        assertEquals("failed: the server closed a connection", client((s, number) -> {
            if (number % 2 == 0) {
                echo(s);
            }
        }).getLast());
    }

    @Test
    void nobodyListens() throws IOException {
        int port;
        try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = s.getLocalPort();
        }
        assertEquals(List.of("failed: Connection refused"), client(port, "1000", "0.1"));
    }

    /** More than can be answered: that is said soon, and does not fill the heap. */
    @Test
    void aServerThatDoesNotAnswer() throws IOException {
        try (ServerSocket s = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress())) { // Its backlog connects.
            String last = client(s.getLocalPort(), "1e7", "3600").getLast();
            assertTrue(last.startsWith("failed: the server falls behind, "), last);
        }
    }
}
