// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JDK's sockets, channels and selectors where goroutines wait in the scheduler's own poller. */
class SocketsTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    /** What may fail as sockets do. */
    @FunctionalInterface
    private interface Io {
        void run() throws IOException;
    }

    private static Runnable io(Io body) {
        return () -> {
            try {
                body.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    private static int waiters(TestGmp gmp) {
        return Schedt.NETPOLLWAITERS.getVolatile(gmp.scheduler().sched);
    }

    /** Until the pollers of this JVM are ours: until then waits go elsewhere. */
    @BeforeAll
    static void awaitChange() throws IOException, InterruptedException {
        for (boolean ours = false; !ours;) {
            try (TestGmp gmp = TestGmp.procs(1)) {
                Pipe pipe = Pipe.open();
                Thread reader = gmp.call(() -> Thread.ofVirtual().start(io(() ->
                        assertEquals(1, pipe.source().read(ByteBuffer.allocate(1))))));
                while (reader.getState() != Thread.State.WAITING) {
                    Thread.sleep(1);
                }
                ours = waiters(gmp) == 1;
                assertEquals(1, pipe.sink().write(ByteBuffer.allocate(1)));
                reader.join();
                pipe.sink().close();
                pipe.source().close();
            }
        }
    }

    /** A goroutine that waits in {@code body}, and what {@code then} makes of that. */
    private static Throwable whileWaiting(TestGmp gmp, Io body, Io then, boolean interrupt) throws Exception {
        AtomicReference<Throwable> end = new AtomicReference<>();
        Thread t = gmp.call(() -> Thread.ofVirtual().start(() -> {
            try {
                body.run();
            } catch (IOException e) {
                end.set(e);
            }
        }));
        while (waiters(gmp) != 1) {
            Thread.onSpinWait();
        }
        then.run();
        if (interrupt) {
            t.interrupt();
        }
        t.join();
        assertEquals(0, waiters(gmp));
        return end.get();
    }

    /** Closed by another thread while a goroutine waits, before or after it has parked. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void closedWhileWaiting(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            for (int i = 0; i < 50; i++) {
                ServerSocket server = new ServerSocket(0, 10, LOOPBACK);
                Throwable end = whileWaiting(gmp, () -> server.accept().close(), server::close, false);
                assertEquals(SocketException.class, end.getClass());
                ServerSocketChannel channel = ServerSocketChannel.open().bind(new InetSocketAddress(LOOPBACK, 0));
                SocketChannel client = SocketChannel.open(channel.getLocalAddress());
                end = whileWaiting(gmp, () -> client.read(ByteBuffer.allocate(1)), client::close, false);
                assertEquals(AsynchronousCloseException.class, end.getClass());
                channel.close();
                DatagramSocket datagrams = new DatagramSocket(0, LOOPBACK);
                end = whileWaiting(gmp, () -> datagrams.receive(new DatagramPacket(new byte[1], 1)), datagrams::close, false);
                assertEquals(SocketException.class, end.getClass());
            }
        }
    }

    @Test
    void shutDownWhileWaiting() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1);
                ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(LOOPBACK, 0));
                SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
            int[] read = new int[1];
            assertEquals(null, whileWaiting(gmp, () -> read[0] = client.read(ByteBuffer.allocate(1)),
                    () -> assertTrue(client.shutdownInput().isOpen()), false));
            assertEquals(-1, read[0]);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void interruptedWhileWaiting(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            for (int i = 0; i < 50; i++) {
                ServerSocketChannel channel = ServerSocketChannel.open().bind(new InetSocketAddress(LOOPBACK, 0));
                SocketChannel client = SocketChannel.open(channel.getLocalAddress());
                Throwable end = whileWaiting(gmp, () -> client.read(ByteBuffer.allocate(1)), () -> { }, true);
                assertEquals(ClosedByInterruptException.class, end.getClass());
                channel.close();
                ServerSocket server = new ServerSocket(0, 10, LOOPBACK);
                end = whileWaiting(gmp, () -> server.accept().close(), () -> { }, true);
                assertEquals(SocketException.class, end.getClass());
                assertTrue(server.isClosed());
            }
        }
    }

    @Test
    void timeouts() throws IOException {
        try (TestGmp gmp = TestGmp.procs(2);
                ServerSocket server = new ServerSocket(0, 10, LOOPBACK);
                Socket s = new Socket(LOOPBACK, server.getLocalPort());
                Socket other = server.accept()) {
            gmp.run(io(() -> {
                s.setSoTimeout(1);
                for (int i = 0; i < 20; i++) {
                    assertThrows(SocketTimeoutException.class, () -> s.getInputStream().read());
                }
                s.setSoTimeout(60_000);
                for (int i = 0; i < 20; i++) {
                    int n = i;
                    Go.go(io(() -> other.getOutputStream().write(n)));
                    assertEquals(i, s.getInputStream().read());
                }
            }));
            assertEquals(0, waiters(gmp));
        }
    }

    /** One goroutine reads while another, on the same connection, is blocked writing; both ends. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void bothDirectionsAtOnce(int procs) throws IOException {
        int megabytes = 4;
        try (TestGmp gmp = TestGmp.procs(procs);
                ServerSocket server = new ServerSocket(0, 10, LOOPBACK);
                Socket a = new Socket(LOOPBACK, server.getLocalPort());
                Socket b = server.accept()) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (Socket s : new Socket[] {a, b}) {
                    wg.go(io(() -> {
                        for (int i = 0; i < megabytes; i++) {
                            s.getOutputStream().write(pattern(i));
                        }
                    }));
                    wg.go(io(() -> {
                        for (int i = 0; i < megabytes; i++) {
                            assertArrayEquals(pattern(i), s.getInputStream().readNBytes(1 << 20));
                        }
                    }));
                }
                wg.await();
            });
            assertEquals(0, waiters(gmp));
        }
    }

    private static byte[] pattern(int seed) {
        byte[] b = new byte[1 << 20];
        new Random(seed).nextBytes(b);
        return b;
    }

    /** A selector's own descriptor is waited for; others wake it up, or a channel of it becomes ready. */
    @Test
    void selectors() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1); Selector selector = Selector.open()) {
            Pipe pipe = Pipe.open();
            pipe.source().configureBlocking(false).register(selector, SelectionKey.OP_READ);
            for (int i = 0; i < 50; i++) {
                int[] n = new int[1];
                assertEquals(null, whileWaiting(gmp, () -> n[0] = selector.select(), selector::wakeup, false));
                assertEquals(0, n[0]);
                assertEquals(null, whileWaiting(gmp, () -> n[0] = selector.select(),
                        () -> assertEquals(1, pipe.sink().write(ByteBuffer.allocate(1))), false));
                assertEquals(1, n[0]);
                selector.selectedKeys().clear();
                assertEquals(1, pipe.source().read(ByteBuffer.allocate(1)));
            }
            pipe.sink().close();
            pipe.source().close();
        }
    }

    /** Goroutines of two schedulers and a thread of the JDK's take turns at one connection's ends. */
    @Test
    void twoSchedulersAndTheJdk() throws Exception {
        int rounds = 300;
        try (TestGmp one = TestGmp.procs(1); TestGmp two = TestGmp.procs(2)) {
            Pipe a = Pipe.open();
            Pipe b = Pipe.open();
            Pipe c = Pipe.open();
            Thread jdk = Thread.ofVirtual().start(io(() -> pass(b, c, rounds)));
            one.go(io(() -> pass(a, b, rounds)));
            two.run(io(() -> {
                for (int i = 0; i < rounds; i++) {
                    assertEquals(1, a.sink().write(ByteBuffer.allocate(1)));
                    assertEquals(1, c.source().read(ByteBuffer.allocate(1)));
                }
            }));
            jdk.join();
            for (int i = 0; i < rounds; i++) { // One pipe's end by the three in turn.
                TestGmp reader = i % 2 == 0 ? one : two;
                assertEquals(null, whileWaiting(reader, () -> a.source().read(ByteBuffer.allocate(1)),
                        () -> assertEquals(1, a.sink().write(ByteBuffer.allocate(1))), false));
                if (i % 3 == 0) {
                    Thread t = Thread.ofVirtual().start(io(() ->
                            assertEquals(1, a.source().read(ByteBuffer.allocate(1)))));
                    assertEquals(1, a.sink().write(ByteBuffer.allocate(1)));
                    t.join();
                }
            }
            for (Pipe p : new Pipe[] {a, b, c}) {
                p.source().close();
                p.sink().close();
            }
        }
    }

    private static void pass(Pipe from, Pipe to, int n) throws IOException {
        for (int i = 0; i < n; i++) {
            assertEquals(1, from.source().read(ByteBuffer.allocate(1)));
            assertEquals(1, to.sink().write(ByteBuffer.allocate(1)));
        }
    }

    /** A scheduler closes while another's goroutines wait for descriptors that its own had waited for. */
    @Test
    void closesWhileOthersWait() throws Exception {
        try (TestGmp stays = TestGmp.procs(1)) {
            Pipe pipe = Pipe.open();
            for (int i = 0; i < 20; i++) {
                TestGmp goes = TestGmp.procs(1);
                assertEquals(null, whileWaiting(goes, () -> pipe.source().read(ByteBuffer.allocate(1)),
                        () -> assertEquals(1, pipe.sink().write(ByteBuffer.allocate(1))), false));
                assertEquals(null, whileWaiting(stays, () -> pipe.source().read(ByteBuffer.allocate(1)), () -> {
                    goes.close();
                    assertEquals(1, pipe.sink().write(ByteBuffer.allocate(1)));
                }, false));
            }
            pipe.sink().close();
            pipe.source().close();
        }
    }

    /** Connections opened, used, cut off and closed at random: all descriptors come back, and no goroutine is left waiting. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void churn(int procs) throws IOException {
        AtomicInteger served = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        int before = descriptors();
        try (TestGmp gmp = TestGmp.procs(procs); ServerSocket server = new ServerSocket(0, 500, LOOPBACK)) {
            int clients = 300;
            gmp.go(() -> {
                try {
                    for (;;) {
                        Socket s = server.accept();
                        int _ = served.incrementAndGet();
                        Go.go(() -> echo(s, ended));
                    }
                } catch (IOException e) {
                    assertTrue(server.isClosed());
                }
            });
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < clients; i++) {
                    int seed = i;
                    wg.go(io(() -> client(server, new Random(seed))));
                }
                wg.await();
                while (served.get() < clients || ended.get() < clients) {
                    Thread.yield();
                }
            });
            assertEquals(1, waiters(gmp)); // The one that accepts.
            gmp.check();
        }
        int after = descriptors();
        assertTrue(after <= before + 10, () -> "descriptors: from " + before + " to " + after);
    }

    private static void echo(Socket s, AtomicInteger ended) {
        try (s) {
            for (int b = s.getInputStream().read(); b >= 0; b = s.getInputStream().read()) {
                s.getOutputStream().write(b);
            }
        } catch (IOException e) {
            assertTrue(e.getMessage().contains("reset") || e.getMessage().contains("Broken pipe"), e::toString);
        } finally {
            int _ = ended.incrementAndGet();
        }
    }

    private static void client(ServerSocket server, Random random) throws IOException {
        try (Socket s = new Socket(LOOPBACK, server.getLocalPort())) {
            for (int i = random.nextInt(5); i > 0; i--) {
                s.getOutputStream().write(i);
                if (random.nextInt(4) == 0) {
                    break; // Leaves the answer.
                }
                assertEquals(i, s.getInputStream().read());
            }
            if (random.nextBoolean()) {
                s.setSoLinger(true, 0); // A reset.
            }
        }
    }

    private static int descriptors() {
        return Objects.requireNonNull(new File("/proc/self/fd").list()).length;
    }
}
