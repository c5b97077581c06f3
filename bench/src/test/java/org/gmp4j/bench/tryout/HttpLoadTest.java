// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The client against servers that behave and misbehave. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HttpLoadTest {
    private static final byte[] REQUEST = "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    private static final double SECONDS = 0.1;
    private static final double RATE = 2_000;
    private static final int CONNECTIONS = 4;

    /** What a connection does, from its first request on; it closes at the end. */
    private interface Behaviour {
        void on(Socket socket, InputStream in) throws IOException;
    }

    /** Answers a request. Returns false when the client has closed the connection. */
    private static boolean answer(Socket socket, InputStream in, String answer) throws IOException {
        if (in.read(new byte[REQUEST.length]) <= 0) {
            return false;
        }
        socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
        return true;
    }

    private static void answerAll(Socket socket, InputStream in) throws IOException {
        boolean open = true;
        while (open) {
            open = answer(socket, in, OK);
        }
    }

    private Tape tape;
    private long reopened;

    private void load(Behaviour behaviour, boolean closed) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (true) {
                        Socket socket = listener.accept();
                        Thread.ofPlatform().daemon().start(() -> {
                            try (socket) {
                                behaviour.on(socket, socket.getInputStream());
                            } catch (IOException e) {
                                return; // The client has closed it.
                            }
                        });
                    }
                } catch (IOException e) {
                    return; // The test is over.
                }
            });
            long begin = System.nanoTime();
            long end = begin + (long) (SECONDS * 1e9);
            tape = new Tape(begin, 1, 0);
            InetSocketAddress address = (InetSocketAddress) listener.getLocalSocketAddress();
            try (HttpLoad load = new HttpLoad(address, REQUEST, CONNECTIONS, tape)) {
                if (closed) {
                    var _ = load.closed((long) (SECONDS * 1e9), tape);
                } else {
                    load.open(RATE, begin, end, new SplittableRandom(1));
                }
                reopened = load.reopened();
            }
        }
    }

    /** As many as the seed has in that time, each once. */
    private void allAnswered() {
        SplittableRandom random = new SplittableRandom(1);
        long due = 0;
        int requests = -1;
        for (; due < (long) (SECONDS * 1e9); requests++) {
            due += (long) (random.nextExponential() * 1e9 / RATE);
        }
        assertEquals(requests, tape.young().getTotalCount());
        assertEquals((long) requests, tape.statuses().get(200));
        assertEquals(0, tape.broken());
    }

    @Test
    void keptAlive() throws Exception {
        load(HttpLoadTest::answerAll, false);
        allAnswered();
        assertEquals(0, reopened);
        assertEquals(2, tape.leastLength());
        assertEquals(tape.young().getTotalCount(), tape.youngLate().getTotalCount());
    }

    /** It says so, as after a hundred requests. */
    @Test
    void lastAnswers() throws Exception {
        load((socket, in) -> {
            boolean _ = answer(socket, in, OK);
            boolean _ = answer(socket, in, OK.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
        }, false);
        allAnswered();
        assertTrue(reopened >= tape.all() / 2 - CONNECTIONS, reopened + " of " + tape.all());
    }

    /** It closes without a word, also while the next request is on its way. */
    @Test
    void closedWithoutAWord() throws Exception {
        load((socket, in) -> answer(socket, in, OK), false);
        allAnswered();
        assertTrue(reopened >= tape.all() - CONNECTIONS, reopened + " of " + tape.all());
    }

    @Test
    void closedLoop() throws Exception {
        load(HttpLoadTest::answerAll, true);
        assertTrue(tape.young().getTotalCount() >= CONNECTIONS);
        assertEquals(tape.all(), tape.statuses().get(200));
    }

    /** Half an answer is none, and a request is not sent once more for it. */
    @Test
    void halfAnAnswer() throws Exception {
        load((socket, in) -> answer(socket, in, OK.substring(0, OK.length() - 1)), false);
        assertTrue(tape.all() > 0);
        assertEquals(tape.all(), tape.broken());
        assertEquals(tape.all(), tape.young().getTotalCount(), "they count with the time that they have waited");
    }

    @Test
    void twoAnswers() {
        assertThrows(IOException.class, () -> load((socket, in) -> answer(socket, in, OK + OK), false));
    }

    /** The listener has gone. */
    @Test
    void refused() throws Exception {
        InetSocketAddress address;
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            address = (InetSocketAddress) listener.getLocalSocketAddress();
        }
        long begin = System.nanoTime();
        tape = new Tape(begin, 1, 0);
        try (HttpLoad load = new HttpLoad(address, REQUEST, CONNECTIONS, tape)) {
            load.open(RATE, begin, begin + (long) (SECONDS * 1e9), new SplittableRandom(1));
        }
        assertTrue(tape.broken() > 0);
        assertEquals(tape.all(), tape.broken());
    }
}
