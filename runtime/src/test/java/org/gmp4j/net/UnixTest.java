// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.pattern;
import static org.gmp4j.net.Io.readFully;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stream sockets of the Unix domain. */
class UnixTest {
    @TempDir
    Path dir;

    @Test
    void streams() throws Exception {
        Path file = dir.resolve("socket");
        byte[] data = pattern(1 << 20);
        for (String name : new String[] {file.toString(), "@gmp4j-" + ProcessHandle.current().pid()}) {
            try (TestGmp gmp = TestGmp.procs(2)) {
                UnixListener l = UnixListener.listen(name);
                gmp.run(io(() -> {
                    WaitGroup all = new WaitGroup();
                    all.go(io(() -> {
                        try (UnixConn c = l.accept()) {
                            Io.echo(c);
                        }
                    }));
                    UnixConn c = UnixConn.dial(name);
                    all.go(io(() -> {
                        c.write(data, 0, data.length);
                        c.closeWrite();
                    }));
                    byte[] got = new byte[data.length];
                    readFully(c, got);
                    assertArrayEquals(data, got);
                    assertEquals(-1, c.read(got, 0, 1));
                    all.await();
                    c.closeRead();
                    c.close();
                    BindException e = assertThrows(BindException.class, () -> UnixListener.listen(name));
                    assertEquals("listen unix " + name + ": EADDRINUSE (Address already in use)", e.getMessage());
                    all.go(() -> assertInstanceOf(ClosedException.class, thrown(() -> l.accept().close())));
                    TestGmp.awaitOthers();
                    l.close();
                    all.await();
                }));
                assertFalse(Files.exists(file));
                ConnectException gone = assertThrows(ConnectException.class, () -> UnixConn.dial(name));
                assertTrue(gone.getMessage().startsWith("dial unix " + name + ": "), gone::getMessage);
                assertEquals(name, l.addr());
            }
        }
    }

    @Test
    void deadlines() throws Exception {
        String name = dir.resolve("socket").toString();
        TestGmp.everywhere(() -> {
            try (UnixListener l = UnixListener.listen(name); UnixConn c = UnixConn.dial(name)) {
                l.accept().close();
                l.setDeadlineAfter(Duration.ofMillis(1));
                assertInstanceOf(SocketTimeoutException.class, thrown(() -> l.accept().close()));
                assertEquals(-1, c.read(new byte[1], 0, 1));
            }
        });
    }

    @Test
    void names() {
        assertThrows(IllegalArgumentException.class, () -> UnixListener.listen("x".repeat(108)));
        assertThrows(IllegalArgumentException.class, () -> UnixConn.dial(""));
    }

    /** A listener that finds no other on the name takes it over: the file that is removed is the closer's own. */
    @Test
    void theFileGoesFirst() throws Exception {
        Path file = dir.resolve("socket");
        String name = file.toString();
        UnixListener l = UnixListener.listen(name);
        AtomicInteger refused = new AtomicInteger();
        AtomicBoolean gone = new AtomicBoolean();
        for (int i = 0; i < 300; i++) {
            UnixListener old = l;
            gone.set(false);
            Thread closer = Thread.ofPlatform().start(() -> {
                old.close();
                gone.set(true);
            });
            while (!gone.get()) {
                IOException e = thrown(() -> UnixConn.dial(name).close());
                if (e != null && e.getMessage().contains("ECONNREFUSED") && Files.exists(file)) {
                    refused.incrementAndGet(); // It looks like one left by a process that has died.
                }
            }
            closer.join();
            l = UnixListener.listen(name);
            old.close(); // Removes nothing: the file is another's now.
            assertTrue(Files.exists(file));
        }
        l.close();
        assertEquals(0, refused.get());
        assertFalse(Files.exists(file));
    }

    /** A name that the JVM's own calls cannot write in this locale. */
    @Test
    void aFileOfAnyName() throws Exception {
        String name = dir.resolve("socket").toString() + "-\u00fc\u20ac";
        UnixListener l = UnixListener.listen(name);
        assertEquals(1, dir.toFile().list().length);
        l.close();
        assertEquals(0, dir.toFile().list().length);
    }

    @Test
    void noNul() {
        assertThrows(IllegalArgumentException.class, () -> UnixListener.listen(dir.resolve("x") + "\0y"));
        assertThrows(IllegalArgumentException.class, () -> UnixConn.dial("\0x"));
        assertEquals(0, dir.toFile().list().length);
    }
}
