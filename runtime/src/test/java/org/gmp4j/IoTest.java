// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.sync.ErrGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The JDK's input and output in goroutines: what waits for another goroutine lets it run, on one P too; closing and
 * interrupting end a wait as they do in any thread.
 */
class IoTest {
    private static final int SIZE = 1 << 20;
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private interface Body {
        void run() throws Exception;
    }

    /** Runs all of them as goroutines; fails with what the first threw. */
    private static void together(int procs, Body... bodies) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.gmp.call(() -> {
                ErrGroup all = new ErrGroup();
                for (Body b : bodies) {
                    all.go(b::run);
                }
                all.await();
                return null;
            });
        }
    }

    private static byte[] random() {
        byte[] bytes = new byte[SIZE];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void files(int procs, @TempDir Path dir) throws Exception {
        byte[] bytes = random();
        together(procs, () -> {
            Path file = dir.resolve("bytes");
            Files.write(file, bytes);
            assertArrayEquals(bytes, Files.readAllBytes(file));
            try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ)) {
                ByteBuffer half = ByteBuffer.allocate(SIZE / 2);
                while (half.hasRemaining() && c.read(half, SIZE / 4 + half.position()) > 0) {
                    Go.gosched();
                }
                assertEquals(bytes[SIZE / 4], half.get(0));
                assertEquals(bytes[SIZE / 4 + SIZE / 2 - 1], half.get(SIZE / 2 - 1));
            }
            try (AsynchronousFileChannel c = AsynchronousFileChannel.open(file)) {
                ByteBuffer some = ByteBuffer.allocate(100);
                assertEquals(100, c.read(some, 7).get());
                assertEquals(bytes[7], some.get(0));
            }
        }, () -> {
            Path lines = dir.resolve("lines");
            try (BufferedWriter w = Files.newBufferedWriter(lines)) {
                for (int i = 0; i < 1_000; i++) {
                    w.write(i + "\n");
                    w.flush();
                }
            }
            try (var read = Files.lines(lines)) {
                assertEquals(1_000L * 999 / 2, read.mapToLong(Long::parseLong).sum());
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void processes(int procs) throws Exception {
        Chan<Integer> c = Chan.make();
        together(procs, () -> {
            Process cat = new ProcessBuilder("cat").start();
            try (BufferedReader out = cat.inputReader(); BufferedWriter in = cat.outputWriter()) {
                for (int i = 0; i < 100; i++) {
                    in.write(i + "\n");
                    in.flush();
                    assertEquals(String.valueOf(i), out.readLine());
                }
            }
            assertEquals(0, cat.waitFor());
            Process sleeps = new ProcessBuilder("sleep", "1000").start();
            assertTrue(!sleeps.waitFor(1, TimeUnit.MILLISECONDS));
            c.send(1); // The other goroutine ran meanwhile, or there is no receiver.
            sleeps.destroy();
            assertTrue(sleeps.onExit().get().exitValue() != 0);
        }, c::recv);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void names(int procs) throws Exception {
        together(procs, () -> {
            assertTrue(InetAddress.getByName("localhost").isLoopbackAddress());
            assertTrue(List.of(InetAddress.getAllByName("127.0.0.1")).getFirst().isLoopbackAddress());
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void datagrams(int procs) throws Exception {
        try (DatagramSocket a = new DatagramSocket(ANY); DatagramSocket b = new DatagramSocket(ANY)) {
            b.setSoTimeout(1);
            together(procs, () -> {
                DatagramPacket p = new DatagramPacket(new byte[1], 1);
                for (int i = 0; i < 100; i++) {
                    a.receive(p);
                    p.getData()[0]++;
                    a.send(p);
                }
            }, () -> {
                DatagramPacket p = new DatagramPacket(new byte[1], 1);
                assertThrows(SocketTimeoutException.class, () -> b.receive(p));
                b.setSoTimeout(0);
                for (int i = 0; i < 100; i++) {
                    b.send(new DatagramPacket(new byte[] {(byte) i}, 1, a.getLocalSocketAddress()));
                    b.receive(p);
                    assertEquals(i + 1, p.getData()[0]);
                }
            });
        }
    }

    /** More than the buffers hold, so that both sides wait. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void channelsAndPipes(int procs) throws Exception {
        byte[] bytes = random();
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(ANY)) {
            together(procs, () -> {
                try (SocketChannel s = SocketChannel.open(server.getLocalAddress())) {
                    ByteBuffer b = ByteBuffer.wrap(bytes);
                    while (b.hasRemaining()) {
                        s.write(b);
                    }
                }
            }, () -> {
                try (SocketChannel s = server.accept()) {
                    ByteBuffer b = ByteBuffer.allocate(SIZE + 1);
                    while (s.read(b) >= 0) {
                        Thread.yield();
                    }
                    assertEquals(ByteBuffer.wrap(bytes), b.flip());
                }
            });
        }
        Pipe pipe = Pipe.open();
        PipedInputStream in = new PipedInputStream(100);
        PipedOutputStream out = new PipedOutputStream(in);
        together(procs, () -> {
            ByteBuffer b = ByteBuffer.wrap(bytes);
            while (b.hasRemaining()) {
                pipe.sink().write(b);
            }
            pipe.sink().close();
            out.write(bytes, 0, 10_000);
            out.close();
        }, () -> {
            ByteBuffer b = ByteBuffer.allocate(SIZE + 1);
            while (pipe.source().read(b) >= 0) {
                Thread.yield();
            }
            pipe.source().close();
            assertEquals(ByteBuffer.wrap(bytes), b.flip());
            assertEquals(ByteBuffer.wrap(bytes, 0, 10_000), ByteBuffer.wrap(in.readAllBytes()));
        });
    }

    /** A goroutine that selects keeps its thread, not its P. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void selectors(int procs) throws Exception {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(ANY); Selector selector = Selector.open()) {
            server.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            AtomicBoolean done = new AtomicBoolean();
            together(procs, () -> {
                while (!done.get()) {
                    selector.select(key -> {
                        try {
                            if (key.isAcceptable()) {
                                server.accept().configureBlocking(false).register(selector, SelectionKey.OP_READ);
                            } else {
                                echo((SocketChannel) key.channel());
                            }
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    });
                }
            }, () -> {
                try (Socket s = new Socket(InetAddress.getLoopbackAddress(), server.socket().getLocalPort())) {
                    for (int i = 0; i < 50; i++) {
                        s.getOutputStream().write(i);
                        assertEquals(i, s.getInputStream().read());
                    }
                }
                done.set(true);
                selector.wakeup();
            });
        }
    }

    private static void echo(SocketChannel s) throws IOException {
        ByteBuffer b = ByteBuffer.allocate(1);
        if (s.read(b) < 0) {
            s.close();
        } else {
            s.write(b.flip());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void asynchronousChannels(int procs) throws Exception {
        try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open().bind(ANY)) {
            together(procs, () -> {
                try (AsynchronousSocketChannel s = server.accept().get()) {
                    ByteBuffer b = ByteBuffer.allocate(1);
                    assertEquals(1, s.read(b).get());
                    assertEquals(1, s.write(b.flip()).get());
                }
            }, () -> {
                try (AsynchronousSocketChannel s = AsynchronousSocketChannel.open()) {
                    s.connect(server.getLocalAddress()).get();
                    assertEquals(1, s.write(ByteBuffer.wrap(new byte[] {42})).get());
                    ByteBuffer b = ByteBuffer.allocate(1);
                    assertEquals(1, s.read(b).get());
                    assertEquals(42, b.get(0));
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void timeLimits(int procs) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(1);
            together(procs, () -> {
                assertThrows(SocketTimeoutException.class, server::accept);
                try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    s.setSoTimeout(1);
                    assertThrows(SocketTimeoutException.class, () -> s.getInputStream().read());
                    try (Socket other = server.accept()) {
                        other.getOutputStream().write(1);
                        s.setSoTimeout(0);
                        assertEquals(1, s.getInputStream().read());
                    }
                }
            });
        }
    }

    /** Another goroutine closes what this one waits on. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void closedMeanwhile(int procs) throws Exception {
        ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket served = server.accept();
        together(procs, () -> assertThrows(SocketException.class, server::accept),
                () -> assertThrows(SocketException.class, () -> client.getInputStream().read()),
                () -> assertEquals(-1, served.getInputStream().read()), () -> {
                    TestGmp.awaitOthers();
                    server.close();
                    client.close();
                });
        served.close();
    }

    /** An interrupt ends a goroutine's wait on a channel of NIO and closes that; the status stays set. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void interrupted(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs); ServerSocketChannel server = ServerSocketChannel.open().bind(ANY)) {
            LinkedBlockingQueue<Object> end = new LinkedBlockingQueue<>();
            Thread t = gmp.gmp.threadFactory().newThread(() -> {
                try {
                    end.add(server.accept());
                } catch (ClosedByInterruptException e) {
                    end.add(Thread.currentThread().isInterrupted());
                } catch (IOException e) {
                    end.add(e);
                }
            });
            t.start();
            while (t.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            t.interrupt();
            assertEquals(true, end.take());
            assertTrue(!server.isOpen());
        }
    }
}
