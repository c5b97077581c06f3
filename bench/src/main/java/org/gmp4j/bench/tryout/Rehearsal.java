// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * Has the client compiled before the first service starts: it sends to a server in this JVM, which answers in all the ways that services
 * answer. So a young service is measured by a client that is not.
 */
final class Rehearsal {
    private static final int ROUNDS = 4;
    private static final long ROUND_NANOS = 300_000_000;
    private static final double RATE = 5_000;
    private static final int CONNECTIONS = 16;
    private static final int MOST_REQUEST = 4096;
    private static final int CHUNKED_ONE_IN = 8;
    private static final int LAST_ONE_IN = 200;
    private static final byte[] REQUEST = ascii("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    private static final byte[] PLAIN =
            ascii("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"hello\":\"world\"}");
    private static final byte[] CHUNKED =
            ascii("HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n11\r\n{\"hello\":\"world\"}\r\n0\r\n\r\n");
    private static final byte[] LAST = ascii("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}");

    /** Whether this JVM has done it. */
    private static boolean done;

    private Rehearsal() {
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Runs it on the calling thread, once in a JVM. */
    static synchronized void run() throws IOException {
        if (done) {
            return;
        }
        SplittableRandom random = new SplittableRandom(0);
        try (ServerSocket listener = new ServerSocket(0, CONNECTIONS, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> accept(listener));
            InetSocketAddress address = new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
            for (int i = 0; i < ROUNDS; i++) {
                long begin = System.nanoTime();
                long middle = begin + ROUND_NANOS;
                Tape tape = new Tape(begin, 2 * ROUND_NANOS / 1e9, 0);
                try (HttpLoad load = new HttpLoad(address, REQUEST, CONNECTIONS, tape)) {
                    load.open(RATE, begin, middle, random);
                    var _ = load.closed(ROUND_NANOS, tape);
                }
            }
        }
        done = true;
    }

    private static void accept(ServerSocket listener) {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofPlatform().daemon().start(() -> serve(socket));
            }
        } catch (IOException e) {
            return; // The rehearsal is over.
        }
    }

    /** Answers requests. A read is a request: the client sends the next one when it has the answer. */
    private static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            byte[] request = new byte[MOST_REQUEST];
            for (int i = 1; in.read(request) > 0; i++) {
                out.write(i % LAST_ONE_IN == 0 ? LAST : i % CHUNKED_ONE_IN == 0 ? CHUNKED : PLAIN);
                if (i % LAST_ONE_IN == 0) {
                    return;
                }
            }
        } catch (IOException e) {
            return; // The client has closed it.
        }
    }
}
