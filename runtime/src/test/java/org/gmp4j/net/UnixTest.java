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

import java.net.BindException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

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
}
