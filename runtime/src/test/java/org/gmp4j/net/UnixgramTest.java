// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Datagrams of the Unix domain. */
class UnixgramTest {
    private static final int MANY = 3_000;

    @TempDir
    Path dir;

    @Test
    void withAnybody() throws Exception {
        String pid = "@gmp4j-dgram-" + ProcessHandle.current().pid();
        String longest = dir + "/" + "x".repeat(106 - dir.toString().length());
        TestGmp.everywhere(() -> {
            try (UnixgramConn server = UnixgramConn.listen(longest); UnixgramConn one = UnixgramConn.listen(pid);
                    UnixgramConn two = UnixgramConn.listen(dir.resolve("\u00fc").toString());
                    UnixgramConn none = UnixgramConn.dial(longest)) {
                ByteBuffer b = ByteBuffer.allocateDirect(100);
                for (int i = 0; i < 20; i++) {
                    UnixgramConn client = i % 3 == 0 ? one : two;
                    assertEquals(i, client.writeTo(ByteBuffer.allocate(i), longest)); // Empty ones too.
                    String from = server.readFrom(b.clear());
                    assertEquals(client.localAddr(), from);
                    assertEquals(i, b.position());
                    assertEquals(3, server.writeTo(ByteBuffer.wrap(new byte[] {1, 2, 3}), from));
                    assertEquals(2, client.read(new byte[2], 0, 2)); // The rest is lost.
                    assertEquals(1, none.write(ByteBuffer.allocate(1)));
                    assertNull(server.readFrom(b.clear()));
                    assertEquals(1, b.position());
                }
                one.writeTo(b.clear(), longest);
                one.writeTo(b.clear(), longest);
                assertSame(server.readFrom(b.clear()), server.readFrom(b.clear()));
                assertEquals(longest, none.remoteAddr());
                assertThrows(IllegalStateException.class, () -> none.writeTo(b, longest));
                assertThrows(IllegalArgumentException.class, () -> one.writeTo(b, ""));
                SocketException e = assertThrows(SocketException.class, () -> one.writeTo(b, dir + "/none"));
                assertEquals("write unixgram " + pid + ": ENOENT (No such file or directory)", e.getMessage());
                server.setReadDeadlineAfter(Duration.ofMillis(1));
                assertInstanceOf(SocketTimeoutException.class, thrown(() -> server.readFrom(b.clear())));
            }
        });
    }

    /** Memory of {@code n} pieces, together 100,000 bytes, on the heap or off it. */
    private static ByteBuffer[] large(int n, boolean heap) {
        ByteBuffer[] pieces = new ByteBuffer[n];
        for (int i = 0; i < n; i++) {
            int size = 100_000 / n;
            pieces[i] = heap ? ByteBuffer.allocate(size) : ByteBuffer.allocateDirect(size);
            for (int j = 0; j < size; j++) {
                pieces[i].put(j, (byte) ((i * size + j) * 31 >> 3));
            }
        }
        return pieces;
    }

    /** One write is one datagram, and one read takes all of it: also above what a stream hands over of an array at a time. */
    @Test
    void largeOnes() throws Exception {
        String name = dir.resolve("large").toString();
        try (TestGmp gmp = TestGmp.procs(1); UnixgramConn server = UnixgramConn.listen(name);
                UnixgramConn peer = UnixgramConn.dial(name); UnixgramConn other = UnixgramConn.listen(name + "2")) {
            gmp.run(io(() -> {
                byte[] sent = large(1, true)[0].array();
                for (boolean heap : new boolean[] {false, true}) {
                    List<Io.Body> sends = List.of(
                            () -> assertEquals(100_000, peer.write(large(1, heap)[0])),
                            () -> assertEquals(100_000, peer.write(large(4, heap))),
                            () -> assertEquals(100_000, other.writeTo(large(1, heap)[0], name)));
                    for (Io.Body send : sends) {
                        for (int how = 0; how < 6; how++) {
                            send.run();
                            ByteBuffer[] to = large(how / 2 == 2 ? 4 : 1, how % 2 == 0);
                            to[0].put(0, (byte) 1);
                            switch (how / 2) {
                                case 0 -> server.readFrom(to[0]);
                                case 1 -> assertEquals(100_000, server.read(to[0]));
                                default -> assertEquals(100_000, server.read(to));
                            }
                            ByteBuffer all = ByteBuffer.allocate(100_000);
                            for (ByteBuffer b : to) {
                                all.put(b.flip());
                            }
                            assertArrayEquals(sent, all.array());
                        }
                    }
                }
                assertThrows(SocketTimeoutException.class, () -> server.readFromWithin(ByteBuffer.allocate(1), Duration.ZERO));
            }));
        }
    }

    /** A peer that is not read holds its sender up, and nothing is lost; a socket without a peer is told. */
    @Test
    void aFullReceiver() throws Exception {
        String name = dir.resolve("socket").toString();
        try (TestGmp gmp = TestGmp.procs(1); UnixgramConn server = UnixgramConn.listen(name);
                UnixgramConn client = UnixgramConn.dial(name); UnixgramConn other = UnixgramConn.listen(name + "2")) {
            gmp.run(io(() -> {
                WaitGroup all = new WaitGroup();
                all.go(io(() -> {
                    for (int i = 0; i < MANY; i++) {
                        client.write(ByteBuffer.allocate(4).putInt(0, i));
                    }
                }));
                TestGmp.awaitOthers();
                IOException e = thrown(() -> other.writeTo(ByteBuffer.allocate(1), name));
                assertTrue(e.getMessage().startsWith("write unixgram " + name + "2: EAGAIN "), e::getMessage);
                ByteBuffer got = ByteBuffer.allocate(4);
                for (int i = 0; i < MANY; i++) {
                    assertNull(server.readFrom(got.clear()));
                    assertEquals(i, got.getInt(0));
                }
                all.await();
                other.writeTo(ByteBuffer.allocate(1), name);
                assertEquals(name + "2", server.readFrom(got.clear()));
            }));
        }
    }

    @Test
    void namesAndFiles() throws Exception {
        Path file = dir.resolve("socket");
        String name = file.toString();
        UnixgramConn c = UnixgramConn.listen(name);
        BindException taken = assertThrows(BindException.class, () -> UnixgramConn.listen(name));
        assertEquals("listen unixgram " + name + ": EADDRINUSE (Address already in use)", taken.getMessage());
        assertTrue(Files.exists(file)); // Another's.
        c.close();
        assertFalse(Files.exists(file));
        UnixgramConn next = UnixgramConn.listen(name);
        c.close();
        assertTrue(Files.exists(file));
        next.close();
        ConnectException e = assertThrows(ConnectException.class, () -> UnixgramConn.dial(name));
        assertEquals("dial unixgram " + name + ": ENOENT (No such file or directory)", e.getMessage());
        assertThrows(IllegalArgumentException.class, () -> UnixgramConn.listen("x".repeat(108)));
        assertThrows(IllegalArgumentException.class, () -> UnixgramConn.dial(""));
        assertInstanceOf(ClosedException.class, thrown(() -> next.readFrom(ByteBuffer.allocate(1))));
    }
}
