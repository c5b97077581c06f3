// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

import org.gmp4j.ffi.linux.linux_h;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SocketsTest {
    private final Arena arena = Arena.ofConfined();
    private final int epfd = Epoll.create();
    private final long events = arena.allocate(Epoll.EVENT_BYTES, 8).address();

    @AfterEach
    void close() {
        Fd.close(epfd);
        arena.close();
    }

    private void waitFor(int fd, int what) {
        assertEquals(0, Epoll.control(epfd, Epoll.ADD, fd, what, fd));
        assertEquals(1, Epoll.await(epfd, events, 1, 10_000));
        assertEquals(0, Epoll.control(epfd, Epoll.DELETE, fd, 0, 0));
    }

    @Test
    void aConversationOverIpv4() throws Exception {
        conversation(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
    }

    @Test
    void aConversationOverIpv6() throws Exception {
        InetSocketAddress loopback = new InetSocketAddress(InetAddress.getByName("::1"), 0);
        try {
            int fd = Sockets.tcp(true);
            try {
                Sockets.bind(fd, loopback);
            } finally {
                Fd.close(fd);
            }
        } catch (NativeException e) {
            assumeTrue(false, "no IPv6 here: " + e.getMessage());
        }
        conversation(loopback);
    }

    private void conversation(InetSocketAddress loopback) {
        boolean ipv6 = loopback.getAddress().getAddress().length == 16;
        int server = Sockets.tcp(ipv6);
        Sockets.setOption(server, linux_h.SOL_SOCKET, linux_h.SO_REUSEADDR, 1);
        Sockets.bind(server, loopback);
        Sockets.listen(server, 16);
        InetSocketAddress address = Sockets.localAddress(server);
        assertTrue(address.getPort() > 0);
        assertEquals(loopback.getAddress(), address.getAddress());
        assertEquals(-Errno.EAGAIN, Sockets.accept(server));

        int client = Sockets.tcp(ipv6);
        int r = Sockets.connect(client, address);
        assertTrue(r == 0 || r == Errno.EINPROGRESS, Errno.describe(r));
        waitFor(client, Epoll.OUT);
        assertEquals(0, Sockets.error(client));
        waitFor(server, Epoll.IN);
        int accepted = Sockets.accept(server);
        assertTrue(accepted > 0);
        assertEquals(address, Sockets.remoteAddress(client));
        assertEquals(Sockets.localAddress(client), Sockets.remoteAddress(accepted));
        Sockets.setOption(client, linux_h.IPPROTO_TCP, linux_h.TCP_NODELAY, 1);
        assertEquals(1, Sockets.option(client, linux_h.IPPROTO_TCP, linux_h.TCP_NODELAY));

        MemorySegment out = arena.allocateFrom("hello");
        MemorySegment in = arena.allocate(100);
        assertEquals(-Errno.EAGAIN, Fd.read(accepted, in.address(), 100), "accepted sockets do not block");
        assertEquals(5, Sockets.send(client, out.address(), 5));
        waitFor(accepted, Epoll.IN);
        assertEquals(5, Fd.read(accepted, in.address(), 100));
        assertEquals("hello", new String(in.asSlice(0, 5).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));

        assertEquals(3, Fd.write(accepted, out.address(), 3));
        Sockets.shutdown(accepted, Sockets.SHUT_WR);
        waitFor(client, Epoll.RDHUP);
        assertEquals(3, Fd.read(client, in.address(), 100));
        assertEquals(0, Fd.read(client, in.address(), 100));
        Fd.close(client);
        Fd.close(accepted);
        Fd.close(server);
    }

    @Test
    void nobodyListens() throws Exception {
        int reserved = Sockets.tcp(false);
        Sockets.bind(reserved, new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
        int client = Sockets.tcp(false);
        int r = Sockets.connect(client, Sockets.localAddress(reserved));
        if (r == Errno.EINPROGRESS) {
            waitFor(client, Epoll.OUT);
            r = Sockets.error(client);
        }
        assertEquals(Errno.ECONNREFUSED, r);
        Fd.close(client);
        Fd.close(reserved);
    }

    @Test
    void errorsNameTheCall() throws Exception {
        int a = Sockets.tcp(false);
        int b = Sockets.udp(false);
        Sockets.bind(a, new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
        int c = Sockets.tcp(false);
        InetSocketAddress taken = Sockets.localAddress(a);
        NativeException e = assertThrows(NativeException.class, () -> Sockets.bind(c, taken));
        assertEquals("bind(" + taken + ") failed: EADDRINUSE (Address already in use)", e.getMessage());
        assertEquals(
                "getpeername failed: ENOTCONN (Transport endpoint is not connected)",
                assertThrows(NativeException.class, () -> Sockets.remoteAddress(a)).getMessage());
        assertEquals(
                "listen failed: EOPNOTSUPP (Operation not supported)",
                assertThrows(NativeException.class, () -> Sockets.listen(b, 1)).getMessage());
        assertThrows(
                IllegalArgumentException.class,
                () -> Sockets.bind(c, InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        Fd.close(a);
        Fd.close(b);
        Fd.close(c);
    }

    @Test
    void aClosedPeerIsEpipeAndNoSignal() throws Exception {
        int server = Sockets.tcp(false);
        Sockets.bind(server, new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
        Sockets.listen(server, 1);
        int client = Sockets.tcp(false);
        Sockets.connect(client, Sockets.localAddress(server));
        waitFor(client, Epoll.OUT);
        Sockets.shutdown(client, Sockets.SHUT_WR);
        assertEquals(-Errno.EPIPE, Sockets.send(client, arena.allocate(8).address(), 8));
        Fd.close(client);
        Fd.close(server);
    }

    @Test
    void addressesKeepTheirBytes() throws Exception {
        for (String text : new String[] {"1.2.3.4", "2001:db8::17", "255.255.255.255"}) {
            for (int port : new int[] {0, 1, 258, 65_535}) {
                InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(text), port);
                MemorySegment s = Sockets.encode(address, arena);
                assertEquals((byte) (port >> 8), s.get(ValueLayout.JAVA_BYTE, 2), "big-endian");
                assertEquals(address, Sockets.decode(s));
            }
        }
    }
}
