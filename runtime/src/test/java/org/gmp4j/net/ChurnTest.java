// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.gmp4j.Go;
import org.gmp4j.struct.OffHeap;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/**
 * Connections opened and killed at random, 1,000 at a time: resets, half-closes, rubbish, silence, slow readers, deadlines.
 * Nothing is left of them. A second as a rule; {@code -Dgmp.churn.seconds=300} for the long form.
 */
class ChurnTest {
    private static final int CONNECTIONS = 1_000;
    /** Ms that some rounds may need besides those for the Ps: one that polls, some that wait in the kernel or are taken from. */
    private static final int MOST_MS = 20;
    /** Bytes off the heap for each of the connections, at most, after the first round: a leak takes as much again and again. */
    private static final int MOST_BYTES = 512;
    private static final long SECONDS = Long.getLong("gmp.churn.seconds", 1);

    private static long descriptors() {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void openedAndKilled() throws Exception {
        AtomicInteger echoed = new AtomicInteger();
        try (TestGmp gmp = TestGmp.procs(2)) {
            long before = gmp.call(() -> {
                round(1, 20, echoed); // Pollers, and classes that open files.
                return descriptors();
            });
            gmp.run(() -> round(2, CONNECTIONS, echoed));
            long taken = OffHeap.taken();
            long end = System.nanoTime() + SECONDS * 1_000_000_000L;
            for (int seed = 3; seed == 3 || System.nanoTime() < end; seed++) {
                int n = seed;
                gmp.run(() -> round(n, CONNECTIONS, echoed));
            }
            long after = gmp.call(ChurnTest::descriptors);
            assertTrue(after <= before + 4, () -> "descriptors: " + before + ", then " + after);
            gmp.run(() -> {
                while (Go.numGoroutine() > 1) { // That of the call before: the caller goes on before it has ended.
                    Go.sleep(Duration.ofMillis(1));
                }
            });
            long more = OffHeap.taken() - taken;
            assertTrue(more <= (long) MOST_BYTES * CONNECTIONS, () -> "more off the heap: " + more);
            int ms = gmp.scheduler().mcount();
            assertTrue(ms < MOST_MS, () -> "Ms: " + ms);
            assertEquals(0, Schedt.NETPOLLWAITERS.getVolatile(gmp.scheduler().sched));
            assertTrue(echoed.get() > CONNECTIONS / 10, () -> "echoed: " + echoed);
            gmp.check();
        }
    }

    private static void round(int seed, int connections, AtomicInteger echoed) {
        io(() -> {
            TcpListener l = TcpListener.listen(LOOPBACK);
            WaitGroup servers = new WaitGroup();
            WaitGroup clients = new WaitGroup();
            Set<SocketAddress> givenUp = ConcurrentHashMap.newKeySet();
            servers.go(io(() -> l.serve(c -> {
                try (c) {
                    echo(c, givenUp);
                } catch (IOException killed) {
                    return;
                }
            })));
            for (int i = 0; i < connections; i++) {
                Random random = new Random(seed * 1_000_003L + i);
                clients.go(() -> {
                    try (TcpConn c = new Dialer().timeout(Duration.ofSeconds(60)).dial(text(l))) {
                        client(c, random, echoed, givenUp);
                    } catch (SocketTimeoutException e) {
                        assertTrue(e.getMessage().startsWith("read"), e::getMessage);
                    } catch (IOException killed) {
                        return;
                    }
                });
            }
            clients.await();
            l.close();
            servers.await();
        }).run();
        while (Go.numGoroutine() > 1) {
            Go.sleep(Duration.ofMillis(1)); // Handlers see the end of their connections.
        }
    }

    /** A silent peer loses the connection; on a busy machine others do too: their addresses are added before the connection ends. */
    private static void echo(TcpConn c, Set<SocketAddress> givenUp) throws IOException {
        try {
            c.setDeadlineAfter(Duration.ofMillis(200));
            Io.echo(c);
        } catch (SocketTimeoutException e) {
            SocketAddress peer = c.remoteAddr();
            if (peer != null) { // Else it had gone before.
                givenUp.add(peer);
            }
            throw e;
        }
    }

    private static void client(TcpConn c, Random random, AtomicInteger echoed, Set<SocketAddress> givenUp) throws IOException {
        byte[] some = new byte[1 + random.nextInt(20_000)];
        switch (random.nextInt(9)) {
            case 0 -> c.setLinger(0); // A reset, with nothing said.
            case 1 -> {
                c.write(some, 0, some.length);
                c.setLinger(0);
            }
            case 2 -> c.write(some, 0, some.length); // An end, with answers unread.
            case 3 -> c.closeWrite();
            case 4 -> {
                Go.go(c::close); // Under a read.
                int _ = c.read(some, 0, 1);
            }
            case 5 -> {
                c.setReadDeadlineAfter(Duration.ofNanos(random.nextInt(2_000_000)));
                int _ = c.read(some, 0, 1);
            }
            case 6 -> { // Reads too slowly for the server, which gives it up.
                c.setReadBuffer(2048);
                c.setDeadlineAfter(Duration.ofMillis(300));
                Go.go(() -> {
                    IOException _ = Io.thrown(() -> c.write(new byte[1 << 20], 0, 1 << 20)); // The peer does not read all.
                });
                while (c.read(some, 0, 1) > 0) {
                    Go.sleep(Duration.ofMillis(1));
                }
            }
            default -> {
                c.write(some, 0, some.length / 20 + 1);
                c.closeWrite();
                ByteBuffer b = ByteBuffer.allocate(some.length);
                while (c.read(b) > 0) {
                    Go.gosched();
                }
                if (!givenUp.contains(c.localAddr())) {
                    assertEquals(some.length / 20 + 1, b.position());
                    echoed.incrementAndGet();
                }
            }
        }
    }
}
