// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.affinity;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.net.TcpConn;
import org.gmp4j.net.TcpListener;
import org.gmp4j.sync.WaitGroup;

/** What goroutines do; each counts its operations until time is up. */
enum Workload {
    /** Trees of goroutines, each of which starts two and waits for both: an operation is a goroutine. Many steals. */
    FORKJOIN {
        @Override
        void run(int procs, long end, AtomicLong operations) {
            while (System.nanoTime() < end) {
                fork(TREE_DEPTH);
                operations.addAndGet((2L << TREE_DEPTH) - 1);
            }
        }
    },
    /** Two pairs for each P of a producer and a consumer with a channel of 16 between them: an operation is an element. */
    PAIRS {
        @Override
        void run(int procs, long end, AtomicLong operations) {
            WaitGroup all = new WaitGroup();
            for (int i = 0; i < 2 * procs; i++) {
                Chan<Integer> between = Chan.make(BUFFER);
                all.go(() -> {
                    for (int n = 0; n % BATCH != 0 || System.nanoTime() < end; n++) {
                        between.send(n);
                    }
                    between.close();
                });
                all.go(() -> {
                    long n = 0;
                    while (between.recv() != null) {
                        n++;
                    }
                    operations.addAndGet(n);
                });
            }
            all.await();
        }
    },
    /** One token for each P goes round a ring of 16 goroutines for each P: an operation is a hop. */
    RING {
        @Override
        void run(int procs, long end, AtomicLong operations) {
            WaitGroup all = new WaitGroup();
            List<Chan<Integer>> next = new ArrayList<>();
            for (int i = 0; i < BUFFER * procs; i++) {
                next.add(Chan.make(procs));
            }
            for (int i = 0; i < next.size(); i++) {
                int at = i;
                all.go(() -> {
                    long n = 0;
                    int dropped = 0;
                    while (next.get(at).recv() != null) {
                        n++;
                        if (at != 0 || System.nanoTime() < end) {
                            next.get((at + 1) % next.size()).send(1);
                        } else if (++dropped == procs) { // No token is left.
                            for (Chan<Integer> c : next) {
                                c.close();
                            }
                        }
                    }
                    operations.addAndGet(n);
                });
            }
            for (int i = 0; i < procs; i++) {
                next.get(i * BUFFER).send(1);
            }
            all.await();
        }
    },
    /**
     * A service that answers PING as RESP does, and four clients for each P with a connection each, by loopback: an operation is a
     * request.
     */
    RESP {
        @Override
        void run(int procs, long end, AtomicLong operations) {
            WaitGroup all = new WaitGroup();
            try (TcpListener listener = TcpListener.listen("127.0.0.1:0")) {
                for (int i = 0; i < CLIENTS * procs; i++) {
                    all.go(() -> operations.addAndGet(client(listener.addr(), end)));
                    TcpConn conn = listener.accept();
                    all.go(() -> serve(conn));
                }
                all.await();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private static final int TREE_DEPTH = 9;
    private static final int BUFFER = 16;
    private static final int BATCH = 64;
    private static final int CLIENTS = 4;
    private static final byte[] PING = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] PONG = "+PONG\r\n".getBytes(StandardCharsets.US_ASCII);

    /** Runs until {@code end} by nanoTime, finishes what has begun, and adds up its operations. Called on a goroutine. */
    abstract void run(int procs, long end, AtomicLong operations);

    private static void fork(int depth) {
        if (depth == 0) {
            return;
        }
        WaitGroup both = new WaitGroup();
        both.go(() -> fork(depth - 1));
        both.go(() -> fork(depth - 1));
        both.await();
    }

    private static long client(InetSocketAddress to, long end) {
        long n = 0;
        try (TcpConn conn = TcpConn.dial(to.getHostString() + ":" + to.getPort())) {
            ByteBuffer buffer = ByteBuffer.allocate(PONG.length);
            while (System.nanoTime() < end) {
                conn.write(ByteBuffer.wrap(PING));
                if (!fill(conn, buffer)) {
                    throw new IOException("the service closed the connection");
                }
                n++;
            }
            return n;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void serve(TcpConn conn) {
        try (conn) {
            ByteBuffer buffer = ByteBuffer.allocate(PING.length);
            while (fill(conn, buffer)) {
                conn.write(ByteBuffer.wrap(PONG));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Fills the buffer. Returns false at the end of the stream. */
    private static boolean fill(TcpConn conn, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            if (conn.read(buffer) < 0) {
                return false;
            }
        }
        return true;
    }
}
