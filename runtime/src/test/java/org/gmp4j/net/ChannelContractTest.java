// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ByteChannel;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.gmp4j.Go;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the interfaces of {@code java.nio.channels} that a connection implements say of their methods. */
class ChannelContractTest {
    @TempDir
    Path dir;

    /** Two ends of a connection of each kind; the second of those for datagrams sends nothing. */
    private interface Case {
        void on(Conn a, Conn b) throws IOException;
    }

    private void each(Case body) throws IOException {
        try (TcpListener l = TcpListener.listen(LOOPBACK); TcpConn a = TcpConn.dial(text(l)); TcpConn b = l.accept()) {
            body.on(a, b);
        }
        String name = dir.resolve("s").toString();
        try (UnixListener l = UnixListener.listen(name); UnixConn a = UnixConn.dial(name); UnixConn b = l.accept()) {
            body.on(a, b);
        }
        try (UdpConn b = UdpConn.listen(LOOPBACK); UdpConn a = UdpConn.dial(Addresses.text(b.localAddr()))) {
            body.on(a, b);
        }
        try (UnixgramConn b = UnixgramConn.listen(name + "g"); UnixgramConn a = UnixgramConn.dial(name + "g")) {
            body.on(a, b);
        }
    }

    private static ByteBuffer[] buffers(int n, int size) {
        ByteBuffer[] all = new ByteBuffer[n];
        for (int i = 0; i < n; i++) {
            all[i] = ByteBuffer.allocate(size);
        }
        return all;
    }

    /** Datagrams of many pieces are no stream of bytes: those connections are plain channels. */
    @Test
    void whichInterfaces() throws Exception {
        each((a, b) -> {
            assertInstanceOf(ByteChannel.class, a);
            assertEquals(a.isStream(), a instanceof GatheringByteChannel);
            assertEquals(a.isStream(), a instanceof ScatteringByteChannel);
        });
    }

    @Test
    void readOnly() throws Exception {
        each((a, b) -> {
            ByteBuffer[] last = buffers(8, 0);
            last[7] = ByteBuffer.allocate(5).asReadOnlyBuffer();
            assertThrows(IllegalArgumentException.class, () -> a.read(last[7]));
            assertThrows(IllegalArgumentException.class, () -> a.read(last));
            if (a.isStream()) {
                ByteBuffer[] beyond = buffers(10, 1);
                beyond[9] = last[7];
                assertThrows(IllegalArgumentException.class, () -> a.read(beyond));
            } else {
                assertThrows(IllegalArgumentException.class, () -> ((DatagramConn<?>) a).readFrom(last[7]));
            }
        });
    }

    /** As long as a byte remains in any buffer a read gives at least one, however many before that have no room. */
    @Test
    void buffersWithoutRoom() throws Exception {
        each((a, b) -> {
            if (a.isStream()) {
                ByteBuffer[] to = buffers(20, 0);
                to[15] = ByteBuffer.allocate(3);
                to[17] = ByteBuffer.allocate(3);
                b.write(ByteBuffer.allocate(5));
                assertEquals(5, a.read(to));
                assertEquals(3, to[15].position());
                assertEquals(2, to[17].position());
                assertEquals(0, a.read(buffers(20, 0)));
            }
        });
    }

    /** Operations on a closed one, empty ones too. */
    @Test
    void closed() throws Exception {
        each((a, b) -> {
            assertTrue(a.isOpen());
            a.close();
            assertFalse(a.isOpen());
            for (int size = 0; size < 2; size++) {
                ByteBuffer[] some = buffers(2, size);
                List<Io.Body> all = List.of(() -> a.read(some[0]), () -> a.read(some), () -> a.write(some[0]), () -> a.write(some),
                        () -> a.read(new ByteBuffer[0]), () -> a.write(new ByteBuffer[0]));
                for (Io.Body body : all) {
                    assertThrows(ClosedChannelException.class, body::run);
                }
            }
            a.close();
        });
    }

    /** Closed under a read, by another goroutine. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void closedUnderARead(boolean vectored) throws Exception {
        each((a, b) -> {
            Conn reader = a.isStream() ? a : b;
            try (TestGmp gmp = TestGmp.procs(1)) {
                AtomicInteger ended = new AtomicInteger();
                gmp.run(io(() -> {
                    Go.go(() -> {
                        assertThrows(AsynchronousCloseException.class,
                                vectored ? () -> reader.read(buffers(2, 1)) : () -> reader.read(ByteBuffer.allocate(1)));
                        ended.incrementAndGet();
                    });
                    TestGmp.awaitOthers();
                    reader.close();
                    TestGmp.awaitOthers();
                }));
                assertEquals(1, ended.get());
            }
        });
    }

    /** A second close waits for the first, which waits for a call; meanwhile the channel is not open. */
    @Test
    void aSecondCloseWaits() throws Exception {
        each((a, b) -> secondClose(a, a.fd::use, a::isOpen));
        try (TcpListener l = TcpListener.listen(LOOPBACK)) {
            secondClose(l, l.fd::use, l.fd::isOpen);
        }
    }

    private interface Used {
        boolean by(PollFd.Use u);
    }

    private static void secondClose(AutoCloseable c, Used used, BooleanSupplier open) {
        try {
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch leave = new CountDownLatch(1);
            AtomicInteger closed = new AtomicInteger();
            Runnable close = () -> {
                try {
                    c.close();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                closed.incrementAndGet();
            };
            Thread user = Thread.ofPlatform().start(() -> used.by(_ -> {
                inside.countDown();
                await(leave);
            }));
            inside.await();
            Thread first = Thread.startVirtualThread(close);
            until(() -> !open.getAsBoolean());
            Thread second = Thread.startVirtualThread(close);
            Thread third = Thread.startVirtualThread(close);
            until(() -> waits(first) && waits(second) && waits(third));
            assertEquals(0, closed.get());
            leave.countDown();
            for (Thread t : new Thread[] {user, first, second, third}) {
                t.join();
            }
            assertEquals(3, closed.get());
            close.run(); // It returns at once.
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void until(BooleanSupplier what) throws InterruptedException {
        while (!what.getAsBoolean()) {
            Thread.sleep(1);
        }
    }

    private static boolean waits(Thread t) {
        return t.getState() == Thread.State.WAITING || t.getState() == Thread.State.TERMINATED;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
