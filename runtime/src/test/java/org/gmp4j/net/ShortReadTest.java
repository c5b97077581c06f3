// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;

import org.gmp4j.Go;
import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.Memory;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A read that takes less than it had room for is followed by a wait without a system call: which misses nothing. */
class ShortReadTest {
    /** The bytes are there, and the poller has seen them: for longer than a wait that would miss it is from its end. */
    private static final Duration SEEN = Duration.ofMillis(20);

    /** Two ends, of which one has waited for a byte, and so is registered. */
    private static void registered(TcpConn reader, Io.Body write) throws IOException {
        Go.go(io(() -> {
            Go.sleep(Duration.ofMillis(1));
            write.run();
        }));
        assertEquals(1, reader.read(new byte[1], 0, 1));
    }

    private static String read(TcpConn c, int room) throws IOException {
        byte[] b = new byte[room];
        int n = c.read(b, 0, room);
        return n < 0 ? "end" : new String(b, 0, n, StandardCharsets.ISO_8859_1);
    }

    /** The end comes with the last bytes, and nothing comes after it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theEnd(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs); Pair p = Pair.open()) {
            gmp.run(io(() -> {
                registered(p.b(), () -> p.a().write(new byte[1], 0, 1));
                p.a().write(new byte[] {'a', 'b'}, 0, 2);
                p.a().closeWrite();
                Go.sleep(SEEN);
                assertEquals("ab", read(p.b(), 100));
                assertEquals("end", read(p.b(), 100));
                assertEquals("end", read(p.b(), 100));
            }));
        }
    }

    /** A reset after the last bytes. */
    @Test
    void aReset() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open()) {
            gmp.run(io(() -> {
                registered(p.b(), () -> p.a().write(new byte[1], 0, 1));
                p.a().write(new byte[] {'a', 'b'}, 0, 2);
                assertEquals("ab", read(p.b(), 100));
                p.a().setLinger(0);
                p.a().close();
                Go.sleep(SEEN);
                IOException e = Io.thrown(() -> read(p.b(), 100));
                assertEquals(true, e != null && e.getMessage().contains("ECONNRESET"), () -> "" + e);
            }));
        }
    }

    /** A read stops before urgent data, whatever comes behind that. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void urgentData(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs);
                TcpListener l = TcpListener.listen(LOOPBACK);
                Socket s = new Socket(InetAddress.getLoopbackAddress(), l.addr().getPort());
                TcpConn c = l.accept()) {
            gmp.run(io(() -> {
                registered(c, () -> s.getOutputStream().write(1));
                s.getOutputStream().write(new byte[] {'a', 'b'});
                s.sendUrgentData('u');
                s.getOutputStream().write(new byte[] {'c', 'd'});
                Go.sleep(SEEN);
                assertEquals("ab", read(c, 100));
                assertEquals("cd", read(c, 100));
            }));
        }
    }

    /**
     * Whether a read of bytes that are there lets another goroutine run first; on one P. {@code between} comes after a short read, {@code
     * before} just before the read in question.
     */
    private static boolean waits(Pair p, Io.Body between, Io.Body before) throws IOException {
        registered(p.b(), () -> p.a().write(new byte[1], 0, 1));
        p.a().write(new byte[] {'a', 'b'}, 0, 2);
        there(p.b());
        assertEquals("ab", read(p.b(), 100));
        between.run();
        p.a().write(new byte[] {'c', 'd'}, 0, 2);
        there(p.b());
        boolean[] ran = new boolean[1];
        Go.go(() -> ran[0] = true);
        before.run();
        assertEquals("cd", read(p.b(), 100));
        boolean waited = ran[0];
        Go.gosched();
        return waited;
    }

    /** What was sent has arrived. */
    private static void there(TcpConn c) {
        int poller = Epoll.create();
        long event = Memory.map(Epoll.EVENT_BYTES);
        try {
            assertEquals(true, c.fd.use(fd -> Epoll.control(poller, Epoll.ADD, fd, Epoll.IN, 0)));
            assertEquals(1, Epoll.awaitNanos(poller, event, 1, Duration.ofMinutes(1).toNanos()));
        } finally {
            Fd.close(poller);
            Memory.unmap(event, Epoll.EVENT_BYTES);
        }
    }

    /**
     * Bytes that are there are read without a wait where a wait could keep them from the reader: others may have run since the last read,
     * or a deadline, a limit or an interrupt may end it.
     */
    @Test
    void bytesThatAreThere() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1))); Pair p = Pair.open()) {
            Io.Body nothing = () -> { };
            gmp.run(io(() -> {
                assertEquals(true, waits(p, nothing, nothing), "the others would show nothing");
                assertEquals(false, waits(p, Go::gosched, nothing), "after a switch");
                assertEquals(false, waits(p, nothing, () -> p.b().setReadDeadlineAfter(Duration.ofHours(1))), "a deadline");
                p.b().setReadDeadline(null);
                assertEquals(true, waits(p, nothing, nothing), "no deadline any more");
                assertEquals(2, limited(p), "no time to wait");
            }));
            Thread t = gmp.gmp.threadFactory().newThread(io(() -> {
                assertEquals(false, waits(p, nothing, Thread.currentThread()::interrupt), "an interrupt");
                assertEquals(true, Thread.interrupted());
                interrupted = true;
            }));
            t.start();
            t.join();
            assertEquals(true, interrupted);
        }
    }

    private boolean interrupted;

    private static int limited(Pair p) throws IOException {
        p.a().write(new byte[] {'a', 'b'}, 0, 2);
        there(p.b());
        assertEquals("ab", read(p.b(), 100));
        p.a().write(new byte[] {'c', 'd'}, 0, 2);
        there(p.b());
        return p.b().readWithin(ByteBuffer.allocate(100), Duration.ZERO);
    }

    /** Data after data, at any moment: each byte comes, in its place, and the end after them. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void atAnyMoment(int procs) throws Exception {
        byte[] all = Io.pattern(20_000);
        try (TestGmp gmp = TestGmp.procs(procs); TcpListener l = TcpListener.listen(LOOPBACK)) {
            gmp.run(io(() -> {
                WaitGroup senders = new WaitGroup();
                for (int seed = 0; seed < 30; seed++) {
                    Random random = new Random(seed);
                    senders.go(io(() -> {
                        try (TcpConn c = TcpConn.dial(text(l))) {
                            for (int i = 0; i < all.length;) {
                                int n = Math.min(all.length - i, 1 + random.nextInt(100));
                                c.write(all, i, n);
                                i += n;
                                if (random.nextInt(4) == 0) {
                                    Go.gosched();
                                }
                            }
                        }
                    }));
                    senders.go(io(() -> {
                        try (TcpConn c = l.accept()) {
                            assertArrayEquals(all, rest(c, random.nextInt(2) == 0));
                        }
                    }));
                }
                senders.await();
            }));
        }
    }

    private static byte[] rest(TcpConn c, boolean direct) throws IOException {
        ByteBuffer b = direct ? ByteBuffer.allocateDirect(200) : ByteBuffer.allocate(200);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (c.read(b.clear()) >= 0) {
            byte[] some = new byte[b.flip().remaining()];
            b.get(some);
            all.writeBytes(some);
        }
        return all.toByteArray();
    }
}
