// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.context.Context;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dials that are refused, run out of time, are cancelled. */
class DialTest {
    /** A listener whose queue is full, so that the next connect waits: the kernel drops what asks. */
    private record Full(TcpListener listener, List<TcpConn> waiting) implements AutoCloseable {
        static Full open() throws IOException {
            TcpListener l = new ListenConfig().backlog(1).listen(LOOPBACK);
            List<TcpConn> waiting = new ArrayList<>();
            Dialer dialer = new Dialer().timeout(Duration.ofMillis(300));
            IOException full = thrown(() -> {
                for (int i = 0; i < 10; i++) {
                    waiting.add(dialer.dial(text(l)));
                }
            });
            assertInstanceOf(SocketTimeoutException.class, full);
            return new Full(l, waiting);
        }

        String address() {
            return text(listener);
        }

        @Override
        public void close() {
            listener.close();
            waiting.forEach(TcpConn::close);
        }
    }

    @Test
    void refused() throws Exception {
        TestGmp.everywhere(() -> {
            TcpListener l = TcpListener.listen(LOOPBACK);
            l.close();
            ConnectException e = assertThrows(ConnectException.class, () -> TcpConn.dial(text(l)));
            assertEquals("dial tcp " + text(l) + ": ECONNREFUSED (Connection refused)", e.getMessage());
        });
    }

    /** By a time-out, a deadline, a context's deadline: before, while and after. */
    @Test
    void dialTimeout() throws Exception {
        TestGmp.everywhere(() -> {
            try (Full f = Full.open()) {
                for (int ms : new int[] {0, 1, 20}) {
                    Duration d = Duration.ofMillis(ms);
                    timesOut(() -> new Dialer().timeout(d).dial(f.address()));
                    timesOut(() -> new Dialer().deadline(Instant.now().plus(d)).dial(f.address()));
                    timesOut(() -> new Dialer().timeout(Duration.ofHours(1))
                            .dial(Context.background().withTimeout(d), f.address()));
                }
                timesOut(() -> new Dialer().deadline(Instant.MIN).dial(f.address()));
                timesOut(() -> new Dialer().timeout(Duration.ofHours(-1)).dial("localhost:1"));
            }
        });
    }

    private static void timesOut(Io.Body body) {
        SocketTimeoutException e = assertInstanceOf(SocketTimeoutException.class, thrown(body));
        assertTrue(e.getMessage().startsWith("dial tcp ") && e.getMessage().endsWith(": i/o timeout"), e::getMessage);
    }

    @Test
    void timeThatDoesNotRunOut() throws Exception {
        TestGmp.everywhere(() -> {
            try (TcpListener l = TcpListener.listen(LOOPBACK)) {
                Context ctx = Context.background().withCancel();
                Dialer d = new Dialer().timeout(Duration.ofSeconds(Long.MAX_VALUE)).deadline(Instant.MAX)
                        .keepAlive(null).localAddr(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                TcpConn a = d.dial(ctx, text(l));
                TcpConn b = l.accept();
                ctx.cancel(); // It has no power any more, nor has the time.
                b.write(new byte[1], 0, 1);
                assertEquals(1, a.read(new byte[1], 0, 1));
                a.write(new byte[1], 0, 1);
                a.close();
                b.close();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void cancelled(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs); Full f = Full.open()) {
            for (int i = 0; i < 10; i++) {
                boolean early = i % 2 == 0;
                gmp.run(() -> {
                    Context ctx = Context.background().withCancel();
                    Exception why = new Exception("why");
                    WaitGroup all = new WaitGroup();
                    all.go(() -> {
                        InterruptedIOException e = assertInstanceOf(InterruptedIOException.class,
                                thrown(() -> new Dialer().dial(ctx, f.address())));
                        assertEquals("dial tcp " + f.address() + ": operation was canceled", e.getMessage());
                        assertSame(why, e.getCause());
                    });
                    if (!early) {
                        TestGmp.awaitOthers();
                    }
                    ctx.cancel(why);
                    all.await();
                    assertInstanceOf(InterruptedIOException.class, thrown(() -> new Dialer().dial(ctx, f.address())));
                });
            }
        }
    }

    /** A cancel at about the moment when the connection is there: it is had and works, or there is none. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void cancelAgainstConnect(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            TcpListener l = TcpListener.listen(LOOPBACK);
            gmp.go(io(() -> l.serve(c -> {
                IOException _ = thrown(() -> Io.echo(c));
                c.close();
            })));
            gmp.run(() -> {
                for (int i = 0; i < 200; i++) {
                    Context ctx = Context.background().withCancel();
                    WaitGroup all = new WaitGroup();
                    all.go(ctx::cancel);
                    IOException e = thrown(() -> {
                        try (TcpConn c = new Dialer().dial(ctx, l.addr())) {
                            c.write(new byte[1], 0, 1);
                            assertEquals(1, c.read(new byte[1], 0, 1));
                        }
                    });
                    assertTrue(e == null || e.getMessage().endsWith("operation was canceled"), () -> "" + e);
                    all.await();
                }
                l.close();
            });
        }
    }

    @Test
    void names() throws Exception {
        TestGmp.everywhere(() -> {
            try (TcpListener l = TcpListener.listen(LOOPBACK)) {
                String name = "localhost:" + l.addr().getPort();
                TcpConn.dial(name).close();
                new Dialer().timeout(Duration.ofMinutes(1)).dial(name).close();
                new Dialer().dial(Context.background().withCancel(), name).close();
                assertThrows(UnknownHostException.class,
                        () -> new Dialer().timeout(Duration.ofMinutes(1)).dial("no.such.invalid:1"));
            }
        });
    }

    /**
     * A dial to a port of which the kernel chooses those of outgoing connections, and where no listener is: sooner or later
     * it gets that very port, and then TCP connects it with itself.
     */
    @Test
    void notWithItself() throws Exception {
        int port = evenFreePort();
        String address = "127.0.0.1:" + port;
        Dialer d = new Dialer();
        int dials = 50_000; // The kernel tries every second port of 28,232, in steps of up to eight. So it may miss this one three times.
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
            for (int i = 0; i < dials; i++) {
                ConnectException e = assertThrows(ConnectException.class, () -> d.dial(address).close());
                assertEquals("dial tcp " + address + ": ECONNREFUSED (Connection refused)", e.getMessage());
            }
            });
        }
    }

    private static int evenFreePort() throws IOException {
        for (int port = 40_000; ; port += 2) {
            try (TcpListener l = TcpListener.listen("127.0.0.1:" + port)) {
                return l.addr().getPort();
            } catch (BindException taken) {
                assertTrue(port < 60_000);
            }
        }
    }

    private static final long NO_END = PollFd.NO_LIMIT;

    private static InetAddress[] both() {
        return new InetAddress[] {InetAddress.ofLiteral("127.0.0.1"), InetAddress.ofLiteral("::1")};
    }

    /** The other family on a port of the first; null where there is no IPv6. */
    private static TcpListener onIpv6(int port) {
        try {
            return TcpListener.listen("[::1]:" + port);
        } catch (IOException e) {
            return abort("no IPv6, or its port is taken: " + e.getMessage());
        }
    }

    /** Of a name with addresses of both families the first one does not answer. */
    @Test
    void theOtherFamilyIsTriedToo() throws Exception {
        TestGmp.everywhere(() -> {
            try (Full f = Full.open(); TcpListener l = onIpv6(f.listener().addr().getPort())) {
                Dialer d = new Dialer().fallbackDelay(Duration.ofMillis(1));
                try (TcpConn c = d.dial(Context.background(), both(), l.addr().getPort(), NO_END); TcpConn s = l.accept()) {
                    assertEquals(both()[1], c.remoteAddr().getAddress());
                    assertEquals(c.localAddr(), s.remoteAddr());
                }
                long soon = System.nanoTime() + 50_000_000;
                assertThrows(SocketTimeoutException.class, () -> new Dialer().fallbackDelay(Duration.ofHours(1))
                        .dial(Context.background(), both(), l.addr().getPort(), soon));
                Context ctx = Context.background().withTimeout(Duration.ofMillis(20));
                assertThrows(SocketTimeoutException.class, () -> new Dialer().fallbackDelay(null)
                        .dial(ctx, both(), l.addr().getPort(), NO_END));
            }
        });
    }

    /** The first one is refused, so the second starts without the delay. */
    @Test
    void theOtherFamilyAtOnce() throws Exception {
        TestGmp.everywhere(() -> {
            TcpListener gone = TcpListener.listen(LOOPBACK);
            gone.close();
            int port = gone.addr().getPort();
            Dialer d = new Dialer().fallbackDelay(Duration.ofHours(1));
            ConnectException e = assertThrows(ConnectException.class,
                    () -> d.dial(Context.background(), both(), port, NO_END));
            assertEquals("dial tcp 127.0.0.1:" + port + ": ECONNREFUSED (Connection refused)", e.getMessage());
            try (TcpListener l = onIpv6(port); TcpConn c = d.dial(Context.background(), both(), l.addr().getPort(), NO_END)) {
                assertEquals(both()[1], c.remoteAddr().getAddress());
            }
        });
    }

    /** Both connect: one is given to the caller, the other closed. */
    @Test
    void theSecondIsClosed() throws Exception {
        TestGmp.everywhere(() -> {
            try (TcpListener l = TcpListener.listen(LOOPBACK); TcpListener l6 = onIpv6(l.addr().getPort())) {
                for (int i = 0; i < 30; i++) {
                    TcpConn c = new Dialer().fallbackDelay(Duration.ZERO)
                            .dial(Context.background(), both(), l.addr().getPort(), NO_END);
                    boolean first = c.remoteAddr().getAddress().equals(both()[0]);
                    TcpListener other = first ? l6 : l;
                    other.setDeadlineAfter(Duration.ofMillis(5)); // It may have been cancelled before it connected.
                    try (TcpConn lost = other.accept()) {
                        lost.setDeadlineAfter(Duration.ofSeconds(10));
                        IOException end = thrown(() -> assertEquals(-1, lost.read(new byte[1], 0, 1)));
                        assertTrue(!(end instanceof SocketTimeoutException), () -> "" + end);
                    } catch (SocketTimeoutException none) {
                        assertTrue(none.getMessage().startsWith("accept "), none::getMessage);
                    }
                    other.setDeadline(null);
                    try (TcpConn s = accept(first ? l : l6, c)) {
                        s.write(new byte[1], 0, 1);
                        assertEquals(1, c.read(new byte[1], 0, 1)); // This one is open, whichever was second.
                    }
                    c.close();
                }
            }
        });
    }

    /** The other end of {@code c}; before it in the queue may be one that came too late to be accepted in its round, and is closed. */
    private static TcpConn accept(TcpListener l, TcpConn c) throws IOException {
        for (;;) {
            TcpConn s = l.accept();
            if (s.remoteAddr().equals(c.localAddr())) {
                return s;
            }
            s.close();
        }
    }

    /** A caller that has no stack to wait on leaves; what connects all the same is closed. */
    @Test
    void nobodyWaitsForIt() throws Exception {
        List<TcpConn> accepted = new CopyOnWriteArrayList<>();
        InetAddress[] all = both();
        TcpConn[] dialled = new TcpConn[10_000];
        int[] counts = new int[2];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).maxStack(256 << 10)); TcpListener l = TcpListener.listen(LOOPBACK)) {
            Dialer d = new Dialer().fallbackDelay(Duration.ofHours(1));
            int port = l.addr().getPort();
            gmp.go(() -> {
                IOException closed = thrown(() -> {
                    for (;;) {
                        accepted.add(l.accept());
                    }
                });
            });
            gmp.run(() -> dialDeep(d, all, port, 0, dialled, counts));
            for (int i = 0; i < counts[0]; i++) {
                dialled[i].close();
            }
            try (TcpConn last = TcpConn.dial(text(l))) { // All that connected before it have been accepted when it was.
                InetSocketAddress from = last.localAddr();
                while (accepted.stream().noneMatch(c -> c.remoteAddr().equals(from))) {
                    Thread.sleep(1);
                }
            }
            for (TcpConn c : accepted) {
                c.setReadDeadlineAfter(Duration.ofSeconds(10));
                IOException end = thrown(() -> assertEquals(-1, c.read(new byte[1], 0, 1)));
                assertTrue(!(end instanceof SocketTimeoutException), () -> "nobody has closed it: " + end);
                c.close();
            }
        }
        assertTrue(counts[0] > 0 && counts[1] > 1, () -> counts[0] + " connected, refused " + counts[1]);
    }

    private static void dialDeep(Dialer d, InetAddress[] all, int port, int depth, TcpConn[] dialled, int[] counts) {
        try {
            dialDeep(d, all, port, depth + 1, dialled, counts);
        } catch (StackOverflowError e) {
            counts[1]++;
        }
        if (counts[0] < 64 || depth % 8 == 0) { // At every depth where the last that are refused are near.
            try {
                dialled[counts[0]] = d.dial(Context.background(), all, port, NO_END);
                counts[0]++;
            } catch (IOException e) {
                throw new AssertionError(e);
            } catch (StackOverflowError e) {
                counts[1]++;
            }
        }
    }

    @Test
    void fallbackDelayOutOfRange() {
        assertThrows(IllegalArgumentException.class, () -> new Dialer().fallbackDelay(Duration.ofNanos(-1)));
    }

    /** What the look-up of a name throws ends the dial, also where it runs apart, and the time is not waited for. */
    @Test
    void aLookupThatThrows() {
        Error failed = new StackOverflowError();
        Context ctx = Context.background().withTimeout(Duration.ofSeconds(60));
        assertSame(failed, assertThrows(StackOverflowError.class, () -> Lookup.apart(() -> {
            throw failed;
        }, PollFd.NO_LIMIT, ctx, "tcp x:1")));
        UnknownHostException unknown = new UnknownHostException("x");
        assertSame(unknown, assertThrows(UnknownHostException.class, () -> Lookup.apart(() -> {
            throw unknown;
        }, PollFd.NO_LIMIT, ctx, "tcp x:1")));
    }

    /** A resolver that hangs does not take a thread for each that asks it. */
    @Test
    void lookUpsThatBlockAreLimited() {
        int others = Lookup.limit().availablePermits() - 1;
        Lookup.limit().acquireUninterruptibly(others);
        CountDownLatch answers = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        try (TestGmp gmp = TestGmp.procs(1)) {
            for (int i = 0; i < 2; i++) {
                gmp.go(io(() -> {
                    InetAddress[] _ = Lookup.blocking(() -> {
                        asked.incrementAndGet();
                        answers.await();
                        return new InetAddress[0];
                    });
                }));
            }
            try {
                while (asked.get() == 0 || !Lookup.limit().hasQueuedThreads()) {
                    Thread.onSpinWait();
                }
                assertEquals(1, asked.get());
            } finally {
                answers.countDown();
            }
        } finally {
            Lookup.limit().release(others);
        }
        assertEquals(2, asked.get());
    }

    @Test
    void keepAliveOutOfRange() {
        for (Duration d : new Duration[] {Duration.ofMillis(999), Duration.ofSeconds(-1), Duration.ofSeconds(32_768),
            Duration.ofSeconds(1L << 32)}) {
            assertThrows(IllegalArgumentException.class, () -> new Dialer().keepAlive(d));
            assertThrows(IllegalArgumentException.class, () -> new ListenConfig().keepAlive(d));
        }
        assertThrows(NullPointerException.class, () -> new Dialer().keepAlive(Duration.ZERO).keepAlive(null)
                .keepAlive(Duration.ofSeconds(32_767)).dial(Context.background(), (InetSocketAddress) null));
    }

    /** A server without descriptors pauses, also one that was interrupted. */
    @Test
    void aPauseIsNotInterrupted() {
        Thread.currentThread().interrupt();
        long begun = System.nanoTime();
        Listener.pause(50);
        assertTrue(System.nanoTime() - begun >= 50_000_000);
        assertTrue(Thread.interrupted());
    }
}
