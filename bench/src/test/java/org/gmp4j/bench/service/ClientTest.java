// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;

/** The client against servers of its kind: one that answers, and others. */
class ClientTest {
    private static final int SLOW_MILLIS = 5;
    private static final double REHEARSAL_SECONDS = 0.02;

    private interface Connection {
        void serve(Socket s, int number) throws IOException;
    }

    private static List<String> client(int port, String rate, String connections, String seconds) {
        return client(port + "\nmeasure\ntell\n", rate, connections, seconds);
    }

    private static List<String> client(String hears, String rate, String connections, String seconds) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Client.run(new String[] {"rare", rate, connections, "0", seconds, "1"},
                new ByteArrayInputStream(hears.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8), REHEARSAL_SECONDS);
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    private static List<String> client(Connection connection) throws IOException {
        return client("400", "0.3", connection);
    }

    private static List<String> client(String connections, String seconds, Connection connection) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress())) {
            AtomicInteger accepted = new AtomicInteger();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    for (;;) {
                        Socket s = listener.accept();
                        int number = accepted.getAndIncrement();
                        Thread.ofVirtual().start(() -> {
                            try (s) {
                                s.setTcpNoDelay(true); // Or a second piece waits until the first is acknowledged.
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
            return client(listener.getLocalPort(), "1000", connections, seconds);
        }
    }

    private static void echo(Socket s, int millis, AtomicInteger requests) throws IOException {
        for (;;) {
            byte[] request = s.getInputStream().readNBytes(Long.BYTES);
            if (request.length < Long.BYTES) {
                return;
            }
            requests.incrementAndGet();
            for (long end = System.nanoTime() + millis * 1_000_000L; System.nanoTime() - end < 0; ) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
            s.getOutputStream().write(request, 0, 3); // In two pieces.
            s.getOutputStream().flush();
            s.getOutputStream().write(request, 3, Long.BYTES - 3);
        }
    }

    @Test
    void figures() throws IOException {
        AtomicInteger requests = new AtomicInteger();
        List<String> said = client((s, number) -> echo(s, 0, requests));
        assertEquals(List.of("ready", "begin", "end"), said.subList(0, 3));
        Tally tally = Tally.parse(said.get(3));
        assertEquals(requests.get(), tally.answered());
        assertEquals(requests.get(), tally.late().getTotalCount());
        assertEquals(0, tally.queued());
        assertTrue(tally.shorts().getValueAtPercentile(50) > 0 && tally.took() > 0.2, said::toString);
    }

    /** Requests that wait for the only connection are late by what they waited. */
    @Test
    void latencyFromTheIntendedTime() throws IOException {
        AtomicInteger requests = new AtomicInteger();
        Tally tally = Tally.parse(client("1", "0.2", (s, number) -> echo(s, SLOW_MILLIS, requests)).getLast());
        long all = requests.get() * SLOW_MILLIS * 1_000_000L;
        assertTrue(tally.took() * 1e9 >= all, tally::toString);
        assertTrue(tally.queued() > 0, tally::toString);
        // The last of them was due before 0.2 s were over; the histogram has three digits.
        long longest = Math.max(tally.shorts().getMaxValue(), tally.longs().getMaxValue());
        assertTrue(longest * 1.01 >= all - 200_000_000L, longest + " of " + all);
    }

    @Test
    void aLineThatIsNoTally() {
        for (String line : List.of("", "1 2 3", "1 2 a b c", "x 2 AAAA AAAA AAAA")) {
            IOException e = assertThrows(IOException.class, () -> Tally.parse(line));
            assertEquals("the client said " + line, e.getMessage());
        }
    }

    /** A connection that ends while nothing is asked on it is no answer. */
    @Test
    void aServerThatLeaves() throws IOException {
        assertEquals("failed: the server closed a connection", client((s, number) -> {
            if (number % 2 == 0) {
                echo(s, 0, new AtomicInteger());
            }
        }).getLast());
    }

    @Test
    void nobodyListens() throws IOException {
        int port;
        try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = s.getLocalPort();
        }
        assertEquals(List.of("ready", "failed: Connection refused"), client(port, "1000", "400", "0.1"));
    }

    /** Its parent was killed: it does not rehearse for ever. */
    @Test
    void nobodySpeaks() {
        List<String> ended = List.of("ready", "failed: nobody told the client to go on");
        assertEquals(ended, assertTimeoutPreemptively(Duration.ofMinutes(1), () -> client("", "1000", "1", "0.1")));
    }

    /** More than can be answered: that is said soon, and does not fill the heap. */
    @Test
    void aServerThatDoesNotAnswer() throws IOException {
        try (ServerSocket s = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress())) { // Its backlog connects.
            String last = client(s.getLocalPort(), "1e7", "400", "3600").getLast();
            assertTrue(last.startsWith("failed: the server falls behind, "), last);
        }
    }
}
