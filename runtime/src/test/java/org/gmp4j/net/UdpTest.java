// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Datagrams. */
class UdpTest {
    @Test
    void withAnybody() throws Exception {
        TestGmp.everywhere(() -> {
            try (UdpConn server = UdpConn.listen(LOOPBACK); UdpConn one = UdpConn.listen(LOOPBACK);
                    UdpConn two = UdpConn.listen(LOOPBACK)) {
                ByteBuffer direct = ByteBuffer.allocateDirect(100);
                for (int i = 0; i < 20; i++) {
                    UdpConn client = i % 3 == 0 ? one : two;
                    ByteBuffer sent = ByteBuffer.allocate(i); // Empty ones too.
                    assertEquals(i, client.writeTo(sent, server.localAddr()));
                    assertEquals(0, sent.remaining());
                    InetSocketAddress from = server.readFrom(direct.clear());
                    assertEquals(client.localAddr(), from);
                    assertEquals(i, direct.position());
                    assertEquals(3, server.writeTo(ByteBuffer.wrap(new byte[] {1, 2, 3}), from));
                    assertEquals(2, client.read(new byte[2], 0, 2)); // The rest is lost.
                }
                one.writeTo(ByteBuffer.allocate(1), server.localAddr());
                one.writeTo(ByteBuffer.allocate(1), server.localAddr());
                assertSame(server.readFrom(direct.clear()), server.readFrom(direct.clear()));
            }
        });
    }

    /** A stream has no way to return an empty datagram, so a read of a byte waits for the next datagram. */
    @Test
    void aStreamSkipsEmptyOnes() throws Exception {
        TestGmp.everywhere(() -> {
            try (UdpConn server = UdpConn.listen(LOOPBACK); UdpConn client = UdpConn.dial(Addresses.text(server.localAddr()))) {
                client.write(ByteBuffer.allocate(0));
                client.write(ByteBuffer.wrap(new byte[] {7}));
                assertEquals(7, server.inputStream().read());
                client.write(ByteBuffer.allocate(0));
                client.write(ByteBuffer.wrap(new byte[] {8, 9}));
                assertEquals(2, server.inputStream().read(new byte[4]));
                assertEquals(0, server.inputStream().read(new byte[1], 0, 0));
            }
        });
    }

    @Test
    void withOne() throws Exception {
        TestGmp.everywhere(() -> {
            try (UdpConn server = UdpConn.listen(LOOPBACK);
                    UdpConn client = UdpConn.dial(Addresses.text(server.localAddr()))) {
                assertEquals(server.localAddr(), client.remoteAddr());
                assertEquals(2, client.write(ByteBuffer.wrap(new byte[2])));
                client.write(new byte[3], 0, 3);
                assertEquals(4, client.write(MemorySegment.ofArray(new byte[4])));
                for (int n = 2; n <= 4; n++) {
                    assertEquals(n, server.read(ByteBuffer.allocate(10)));
                }
                ByteBuffer[] pieces = {ByteBuffer.allocate(2), ByteBuffer.allocateDirect(3)};
                assertEquals(5, client.write(pieces));
                assertEquals(5, server.read(ByteBuffer.allocate(10))); // Of one datagram.
                assertThrows(IllegalArgumentException.class, () -> client.write(new MemorySegment[9]));
                server.writeTo(ByteBuffer.allocate(0), client.localAddr());
                assertEquals(0, client.read(ByteBuffer.allocate(1)));
                assertThrows(IllegalStateException.class, () -> client.writeTo(ByteBuffer.allocate(1), server.localAddr()));
                SocketException e = assertThrows(SocketException.class, () -> server.write(ByteBuffer.allocate(1)));
                assertTrue(e.getMessage().contains("EDESTADDRREQ"), e::getMessage);
                e = assertThrows(SocketException.class, () -> client.write(ByteBuffer.allocate(70_000)));
                assertTrue(e.getMessage().contains("EMSGSIZE"), e::getMessage);
            }
        });
    }

    /** To all on a link, here the loopback's. */
    @Test
    void broadcast() throws Exception {
        try (UdpConn server = UdpConn.listen("0.0.0.0:0"); UdpConn any = UdpConn.listen(LOOPBACK);
                UdpConn one = UdpConn.dial("127.255.255.255:" + server.localAddr().getPort())) {
            InetSocketAddress all = new InetSocketAddress("127.255.255.255", server.localAddr().getPort());
            any.writeTo(ByteBuffer.allocate(1), all);
            assertEquals(any.localAddr(), server.readFrom(ByteBuffer.allocate(1)));
            one.write(ByteBuffer.allocate(1));
            assertEquals(one.localAddr().getPort(), server.readFrom(ByteBuffer.allocate(1)).getPort());
        }
    }

    @Test
    void datagramsInPieces() throws Exception {
        try (UdpConn server = UdpConn.listen(LOOPBACK); UdpConn client = UdpConn.dial(Addresses.text(server.localAddr()))) {
            client.write(new byte[] {1, 2, 3, 4, 5}, 0, 5);
            client.write(new byte[] {6}, 0, 1);
            ByteBuffer[] pieces = {ByteBuffer.allocate(2), ByteBuffer.allocateDirect(1), ByteBuffer.allocate(1)};
            assertEquals(4, server.read(pieces)); // The rest is lost.
            assertEquals(3, pieces[1].get(0));
            assertEquals(1, server.read(new MemorySegment[] {MemorySegment.ofArray(new byte[3])}));
            assertThrows(IllegalArgumentException.class, () -> server.read(new ByteBuffer[9]));
            assertThrows(IllegalArgumentException.class, () -> server.read(new MemorySegment[9]));
        }
    }

    /** Without a receiver the kernel gets an error, which the next call reports. */
    @Test
    void nobodyThere() throws Exception {
        UdpConn gone = UdpConn.listen(LOOPBACK);
        gone.close();
        try (UdpConn client = UdpConn.dial(Addresses.text(gone.localAddr()))) {
            client.write(new byte[1], 0, 1);
            SocketException e = assertThrows(SocketException.class, () -> client.read(new byte[1], 0, 1));
            assertTrue(e.getMessage().contains("ECONNREFUSED"), e::getMessage);
        }
    }

    /** One socket for both families, where there are two. */
    @Test
    void theWildcard() throws Exception {
        try (UdpConn server = UdpConn.listen(":0"); UdpConn client = UdpConn.listen(LOOPBACK)) {
            InetSocketAddress to = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), server.localAddr().getPort());
            client.writeTo(ByteBuffer.allocate(1), to);
            InetSocketAddress from = server.readFrom(ByteBuffer.allocate(1));
            assertEquals(client.localAddr(), from);
            server.writeTo(ByteBuffer.allocate(1), from);
            assertEquals(to, client.readFrom(ByteBuffer.allocate(1)));
            assertThrows(IllegalArgumentException.class, () -> client.writeTo(ByteBuffer.allocate(1),
                    new InetSocketAddress(InetAddress.getByName("::1"), 1)));
            assertThrows(IllegalArgumentException.class, () -> client.writeTo(ByteBuffer.allocate(1),
                    InetSocketAddress.createUnresolved("localhost", 1)));
        }
    }

    @Test
    void deadlinesAndClose() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1)) {
            UdpConn c = UdpConn.listen(LOOPBACK);
            gmp.run(io(() -> {
                c.setReadDeadlineAfter(Duration.ofMillis(2));
                assertInstanceOf(SocketTimeoutException.class, thrown(() -> c.readFrom(ByteBuffer.allocate(1))));
                c.setReadDeadline(null);
                WaitGroup all = new WaitGroup();
                for (int i = 0; i < 3; i++) {
                    all.go(() -> {
                        IOException e = thrown(() -> c.readFrom(ByteBuffer.allocate(1)));
                        assertInstanceOf(ClosedException.class, e);
                    });
                }
                TestGmp.awaitOthers();
                c.close();
                all.await();
            }));
        }
    }

    /** The same address on another link is another receiver, although Java calls the two equal. */
    @Test
    void theLinkCounts() throws Exception {
        Inet6Address here = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                .filter(a -> a.isLinkLocalAddress() && a instanceof Inet6Address).map(Inet6Address.class::cast)
                .findAny().orElse(null);
        assumeTrue(here != null, "no link-local address");
        Inet6Address nowhere = Inet6Address.getByAddress(null, here.getAddress(), 999_999);
        assertEquals(here, nowhere);
        try (UdpConn c = UdpConn.listen("[::]:0")) {
            int port = c.localAddr().getPort();
            for (int i = 0; i < 2; i++) {
                assertEquals(1, c.writeTo(ByteBuffer.allocate(1), new InetSocketAddress(here, port)));
                assertThrows(SocketException.class,
                        () -> c.writeTo(ByteBuffer.allocate(1), new InetSocketAddress(nowhere, port)));
            }
        }
    }
}
