// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.pattern;
import static org.gmp4j.net.Io.readFully;
import static org.gmp4j.net.Io.text;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.gmp4j.Go;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** TCP connections: what is written is read, however it is written and by whomever. */
class TcpTest {
    /** From goroutines, plain threads and virtual threads of the JDK's. */
    @Test
    void echo() throws Exception {
        TestGmp.everywhere(() -> {
            try (TcpListener l = TcpListener.listen(LOOPBACK)) {
                Thread server = Thread.ofVirtual().start(io(() -> {
                    try (TcpConn c = l.accept()) {
                        Io.echo(c);
                    }
                }));
                try (TcpConn c = TcpConn.dial(text(l))) {
                    for (int i = 0; i < 200; i++) {
                        byte[] sent = pattern(1 + i * 50);
                        byte[] got = new byte[sent.length];
                        c.write(sent, 0, sent.length);
                        readFully(c, got);
                        assertArrayEquals(sent, got);
                    }
                    c.closeWrite();
                    assertEquals(-1, c.read(ByteBuffer.allocate(1)));
                }
                server.join();
            }
        });
    }

    /** A conversation that changes the side that waits: goroutines of two schedulers, and a thread. */
    @Test
    void oneConnectionManyWaiters() throws Exception {
        try (TestGmp one = TestGmp.procs(1); TestGmp two = TestGmp.procs(2); Pair p = Pair.open()) {
            for (int i = 0; i < 40; i++) {
                Io.Body reader = () -> assertEquals(1, p.b().read(new byte[1], 0, 1));
                Thread t = switch (i < 20 ? i % 2 : i % 3) { // A thread's poller would serve the others too.
                    case 0 -> one.call(() -> Thread.startVirtualThread(io(reader)));
                    case 1 -> two.call(() -> Thread.startVirtualThread(io(reader)));
                    default -> Thread.ofPlatform().start(io(reader));
                };
                if (i < 20 || i % 2 == 0) {
                    awaitAsleep(t);
                }
                p.a().write(new byte[1], 0, 1);
                t.join();
            }
            assertEquals(0, Schedt.NETPOLLWAITERS.getVolatile(one.scheduler().sched));
            assertEquals(0, Schedt.NETPOLLWAITERS.getVolatile(two.scheduler().sched));
        }
    }

    private static void awaitAsleep(Thread t) throws InterruptedException {
        for (int i = 0; i < 5 && t.isAlive(); i++) {
            Thread.sleep(1); // Nothing depends on it: if it does not sleep yet another case is tried.
        }
    }

    /** Much more than the kernel's buffers hold, both ways at once, from memory of all kinds. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void bigTransfers(int procs) throws Exception {
        byte[] data = pattern(8 << 20);
        try (TestGmp gmp = TestGmp.procs(procs); Pair p = Pair.open(); Arena arena = Arena.ofShared()) {
            MemorySegment off = arena.allocate(data.length);
            off.copyFrom(MemorySegment.ofArray(data));
            WaitGroup all = new WaitGroup();
            byte[] atA = new byte[data.length];
            MemorySegment atB = arena.allocate(data.length);
            gmp.run(() -> {
                all.go(io(() -> assertEquals(data.length, p.a().write(off))));
                all.go(io(() -> p.b().write(data, 0, data.length)));
                all.go(io(() -> readFully(p.a(), atA)));
                all.go(io(() -> {
                    for (long n = 0; n < atB.byteSize();) {
                        n += p.b().read(atB.asSlice(n));
                    }
                }));
                all.await();
            });
            assertArrayEquals(data, atA);
            assertEquals(-1, off.mismatch(atB));
        }
    }

    /** What was done is in the text, and what came of it. */
    @Test
    void halfCloseThatFails() throws Exception {
        try (Pair p = Pair.open()) {
            String what = "close tcp " + Addresses.text(p.a().localAddr()) + "->" + Addresses.text(p.a().remoteAddr()) + ": ";
            p.b().setLinger(0);
            p.b().close();
            assertThrows(SocketException.class, () -> p.a().read(new byte[1], 0, 1)); // The reset has come.
            for (Io.Body half : new Io.Body[] {() -> p.a().closeWrite(), () -> p.a().closeRead()}) {
                SocketException e = assertThrows(SocketException.class, half::run);
                assertTrue(e.getMessage().equals(what + "ENOTCONN (Transport endpoint is not connected)"), e::getMessage);
            }
            p.a().close();
            assertEquals(what + "use of closed network connection",
                    assertThrows(ClosedException.class, () -> p.a().closeWrite()).getMessage());
        }
    }

    /** Writers take turns with whole calls: no bytes come into the middle of another writer's. */
    @Test
    void writesDoNotMix() throws Exception {
        int size = 300_000;
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open()) {
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                for (int w = 0; w < 4; w++) {
                    byte[] mine = new byte[size];
                    java.util.Arrays.fill(mine, (byte) (w + 1));
                    all.go(io(() -> p.a().write(mine, 0, size)));
                }
                byte[] got = new byte[4 * size];
                io(() -> readFully(p.b(), got)).run();
                for (int i = 0; i < got.length; i++) {
                    assertEquals(got[i / size * size], got[i]);
                }
                all.await();
            });
        }
    }

    @Test
    void halfClose() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open()) {
            gmp.run(io(() -> {
                p.a().write(new byte[] {1, 2}, 0, 2);
                p.a().closeWrite();
                byte[] got = new byte[4];
                readFully(p.b(), new byte[2]);
                assertEquals(-1, p.b().read(got, 0, 4));
                assertEquals(-1, p.b().read(got, 0, 4));
                p.b().write(new byte[] {3}, 0, 1); // The other way is open.
                assertEquals(1, p.a().read(got, 0, 4));
                assertEquals(3, got[0]);
                SocketException e = assertThrows(SocketException.class, () -> p.a().write(got, 0, 1));
                assertTrue(e.getMessage().contains("EPIPE"), e::getMessage);
                WaitGroup all = new WaitGroup();
                all.go(io(() -> assertEquals(-1, p.a().read(got, 0, 4))));
                TestGmp.awaitOthers();
                p.a().closeRead(); // Ends the wait.
                all.await();
            }));
        }
    }

    @Test
    void aReset() throws Exception {
        try (Pair p = Pair.open()) {
            p.a().setLinger(0);
            p.a().close();
            SocketException e = assertThrows(SocketException.class, () -> p.b().read(new byte[1], 0, 1));
            assertTrue(e.getMessage().startsWith("read tcp 127.0.0.1:"), e::getMessage);
            assertTrue(e.getMessage().contains("ECONNRESET"), e::getMessage);
        }
    }

    @Test
    void views() throws Exception {
        try (Pair p = Pair.open()) {
            InputStream in = p.b().inputStream();
            OutputStream out = p.a().outputStream();
            out.write(200);
            out.write(new byte[] {1, 2, 3});
            assertEquals(200, in.read());
            assertArrayEquals(new byte[] {1, 2, 3}, in.readNBytes(3));
            assertTrue(p.a().isOpen());
            out.close();
            assertFalse(p.a().isOpen());
            assertEquals(-1, in.read());
            assertEquals(0, p.b().read(ByteBuffer.allocate(0)));
            assertThrows(IllegalArgumentException.class, () -> p.b().read(ByteBuffer.allocate(1).asReadOnlyBuffer()));
            assertThrows(IllegalArgumentException.class, () -> p.b().read(Arena.global().allocate(1).asReadOnly()));
            assertThrows(IndexOutOfBoundsException.class, () -> p.b().read(new byte[1], 1, 1));
        }
    }

    /** An arena is closed while a read waits for its memory: the read says so, and nothing is written there. */
    @Test
    void anArenaIsClosed() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1); Pair p = Pair.open()) {
            Arena arena = Arena.ofShared();
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                all.go(io(() -> assertThrows(IllegalStateException.class, () -> p.b().read(arena.allocate(8)))));
                TestGmp.awaitOthers();
                arena.close();
                io(() -> p.a().write(new byte[1], 0, 1)).run();
                all.await();
                io(() -> assertEquals(1, p.b().read(new byte[2], 0, 2))).run(); // It is unused, and no reader has the turn.
            });
        }
    }

    @Test
    void ipv6() throws Exception {
        TcpListener l;
        try {
            l = TcpListener.listen("[::1]:0");
        } catch (IOException e) {
            assumeTrue(false, "no IPv6 here: " + e.getMessage());
            return;
        }
        try (l; TcpConn a = TcpConn.dial(text(l)); TcpConn b = l.accept()) {
            assertTrue(text(l).startsWith("[0:0:0:0:0:0:0:1]:"), text(l));
            assertEquals(a.localAddr(), b.remoteAddr());
            assertEquals(l.addr(), a.remoteAddr());
            a.write(new byte[1], 0, 1);
            assertEquals(1, b.read(new byte[1], 0, 1));
        }
    }

    /** Without a host: all addresses, of both families where there are two. */
    @Test
    void theWildcard() throws Exception {
        try (TcpListener l = TcpListener.listen(":0"); TcpConn a = TcpConn.dial("127.0.0.1:" + l.addr().getPort());
                TcpConn b = l.accept(); TcpConn c = TcpConn.dial("localhost:" + l.addr().getPort()); TcpConn d = l.accept();
                TcpConn e = TcpConn.dial(":" + l.addr().getPort())) {
            assertEquals(a.localAddr(), b.remoteAddr());
            assertEquals(c.localAddr().getPort(), d.remoteAddr().getPort());
            assertTrue(e.isOpen());
        }
    }

    @Test
    void reusePort() throws Exception {
        ListenConfig config = new ListenConfig().reusePort(true).backlog(16);
        try (TcpListener one = config.listen(LOOPBACK); TcpListener two = config.listen(one.addr())) {
            assertEquals(one.addr(), two.addr());
            BindException e = assertThrows(BindException.class, () -> TcpListener.listen(one.addr()));
            assertTrue(e.getMessage().contains("EADDRINUSE"), e::getMessage);
        }
    }

    @Test
    void options() throws Exception {
        try (Pair p = Pair.open()) {
            p.a().setNoDelay(false);
            p.a().setKeepAlive(true);
            p.a().setKeepAlive(Duration.ofSeconds(60), Duration.ofSeconds(10), 3);
            p.a().setLinger(-1);
            SocketException e = assertThrows(SocketException.class,
                    () -> p.a().setKeepAlive(Duration.ZERO, Duration.ofSeconds(1), 1));
            assertTrue(e.getMessage().contains("EINVAL"), e::getMessage);
            p.a().close();
            assertThrows(ClosedException.class, () -> p.a().setNoDelay(true));
        }
        for (String bad : new String[] {"127.0.0.1", "::1:80", "127.0.0.1:65536", "127.0.0.1:http", "127.0.0.1:-1"}) {
            assertThrows(IllegalArgumentException.class, () -> TcpListener.listen(bad), bad);
        }
        assertThrows(IllegalArgumentException.class, () -> new ListenConfig().backlog(0));
    }

    /** All at once, in a burst that is longer than the acceptors are many; served by the loop of the library. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void acceptStorm(int procs) throws Exception {
        int clients = 500;
        try (TestGmp gmp = TestGmp.procs(procs)) {
            TcpListener l = TcpListener.listen(LOOPBACK);
            for (int i = 0; i < 3; i++) {
                gmp.go(io(() -> l.serve(io2(Io::echo))));
            }
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                for (int i = 0; i < clients; i++) {
                    all.go(io(() -> {
                        try (TcpConn c = TcpConn.dial(text(l))) {
                            c.write(new byte[] {5}, 0, 1);
                            assertEquals(1, c.read(new byte[1], 0, 1));
                        }
                    }));
                }
                all.await();
                l.close();
            });
            assertTrue(gmp.call(Go::numGoroutine) >= 1);
        }
    }

    /** What may fail with a connection. */
    private interface Serving {
        void serve(TcpConn c) throws IOException;
    }

    private static java.util.function.Consumer<TcpConn> io2(Serving s) {
        return c -> io(() -> {
            try (c) {
                s.serve(c);
            }
        }).run();
    }

    /** Reads that are served from what is there give way to others too. */
    @Test
    void readersYield() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1); Pair p = Pair.open()) {
            gmp.run(() -> {
                boolean[] ran = new boolean[1];
                Go.go(() -> ran[0] = true);
                io(() -> {
                    while (!ran[0]) {
                        p.a().write(new byte[1], 0, 1);
                        assertEquals(1, p.b().read(new byte[1], 0, 1));
                    }
                }).run();
            });
        }
    }

    @Test
    void optionsOutOfRange() throws Exception {
        try (Pair p = Pair.open()) {
            Duration some = Duration.ofSeconds(5);
            Duration wraps = Duration.ofSeconds((1L << 32) + 5);
            assertThrows(SocketException.class, () -> p.a().setKeepAlive(wraps, some, 1));
            assertThrows(SocketException.class, () -> p.a().setKeepAlive(some, wraps, 1));
            assertThrows(SocketException.class, () -> p.a().setKeepAlive(wraps.negated(), some, 1));
        }
    }
}
