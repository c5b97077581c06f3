// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.LOOPBACK;
import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.text;
import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Go;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A close wakes the waiters, and no call uses the descriptor's number afterwards. */
class CloseTest {
    private static void isClosed(String op, Io.Body body) {
        ClosedException e = assertInstanceOf(ClosedException.class, thrown(body));
        assertTrue(e.getMessage().startsWith(op + " tcp "), e::getMessage);
        assertTrue(e.getMessage().endsWith(": use of closed network connection"), e::getMessage);
    }

    private static Io.Body read(Conn c) {
        return () -> assertEquals(1, c.read(new byte[1], 0, 1));
    }

    /** Readers, acceptors and writers that wait, goroutines and threads, parked or about to. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void closeUnblock(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            for (int i = 0; i < 30; i++) {
                boolean early = i % 2 == 0;
                TcpListener l = TcpListener.listen(LOOPBACK);
                Pair p = Pair.open();
                Pair silent = Pair.open();
                gmp.run(() -> {
                    WaitGroup all = new WaitGroup();
                    for (int k = 0; k < 2; k++) { // The second waits for the first's turn.
                        all.go(() -> isClosed("accept", () -> l.accept().close()));
                        all.go(() -> isClosed("read", read(silent.a())));
                        all.go(() -> isClosed("write", () -> {
                            for (;;) {
                                p.a().write(new byte[1 << 20], 0, 1 << 20);
                            }
                        }));
                    }
                    if (!early) {
                        TestGmp.awaitOthers();
                    }
                    l.close();
                    p.a().close();
                    silent.a().close();
                    all.await();
                });
                isClosed("accept", () -> l.accept().close());
                isClosed("read", read(silent.a()));
                isClosed("set", () -> p.a().setDeadline(null));
                isClosed("set", () -> l.setDeadline(null));
                l.close(); // Harmless.
                p.close();
                silent.close();
            }
            assertEquals(0, Schedt.NETPOLLWAITERS.getVolatile(gmp.scheduler().sched));
            gmp.check();
        }
    }

    @Test
    void closeUnblocksThreads() throws Exception {
        for (int i = 0; i < 20; i++) {
            boolean early = i % 2 == 0;
            try (Pair p = Pair.open(); Pair q = Pair.open()) {
                CountDownLatch begun = new CountDownLatch(2);
                Threads threads = new Threads().add("platform", () -> {
                    begun.countDown();
                    isClosed("read", read(p.b()));
                }).start();
                AtomicReference<IOException> e = new AtomicReference<>();
                Thread virtual = Thread.ofVirtual().start(() -> {
                    begun.countDown();
                    e.set(thrown(read(q.a())));
                });
                begun.await();
                while (!early && virtual.getState() != Thread.State.WAITING) {
                    Thread.sleep(1);
                }
                p.b().close();
                q.a().close();
                threads.join();
                virtual.join();
                assertInstanceOf(ClosedException.class, e.get());
            }
        }
    }

    /** The port is free when close returns, though a goroutine was in accept. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theAddressIsFree(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(io(() -> {
                TcpListener l = TcpListener.listen(LOOPBACK);
                for (int i = 0; i < 100; i++) {
                    TcpListener old = l;
                    WaitGroup all = new WaitGroup();
                    all.go(() -> isClosed("accept", () -> old.accept().close()));
                    if (i % 2 == 0) {
                        TestGmp.awaitOthers();
                    }
                    old.close();
                    l = TcpListener.listen(old.addr());
                    all.await();
                }
                l.close();
            }));
        }
    }

    /** Connections whose numbers are used again at once read no byte of each other's. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void noNumberIsUsedUnderAWaiter(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs); TcpListener l = TcpListener.listen(LOOPBACK)) {
            AtomicInteger wrong = new AtomicInteger();
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                for (int g = 0; g < 4; g++) {
                    byte mine = (byte) (g + 1);
                    all.go(io(() -> {
                        for (int i = 0; i < 60; i++) {
                            one(l, mine, wrong);
                        }
                    }));
                }
                all.await();
            });
            assertEquals(0, wrong.get());
        }
    }

    /** Two ends that know each other by what they send first; readers of the one are closed under. */
    private static void one(TcpListener l, byte mine, AtomicInteger wrong) throws IOException {
        TcpConn a = TcpConn.dial(text(l));
        TcpConn b = l.accept(); // Maybe of another's dial.
        b.write(new byte[] {mine}, 0, 1);
        WaitGroup readers = new WaitGroup();
        byte[] first = new byte[1];
        assertEquals(1, a.read(first, 0, 1));
        for (int r = 0; r < 2; r++) {
            readers.go(() -> {
                byte[] got = new byte[1];
                IOException e = thrown(() -> {
                    if (a.read(got, 0, 1) > 0) {
                        wrong.incrementAndGet(); // No peer sends a second byte.
                    }
                });
                assertTrue(e == null || e instanceof ClosedException, () -> "" + e);
            });
        }
        Go.gosched();
        a.close();
        b.close();
        readers.await();
    }

    /**
     * A close in the middle of reads and writes without end: each ends with the exception, and the descriptor is closed
     * once.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void closeAmongTraffic(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            for (int i = 0; i < 50; i++) {
                Pair p = Pair.open();
                gmp.run(() -> {
                    WaitGroup all = new WaitGroup();
                    for (Conn c : new Conn[] {p.a(), p.b()}) {
                        all.go(() -> endsClosedOrReset(() -> {
                            while (c.read(new byte[100], 0, 100) >= 0) {
                                c.setReadDeadlineAfter(Duration.ofSeconds(60));
                            }
                        }));
                        all.go(() -> endsClosedOrReset(() -> {
                            for (;;) {
                                c.write(new byte[100], 0, 100);
                            }
                        }));
                    }
                    Go.sleep(Duration.ofNanos(100_000));
                    WaitGroup closers = new WaitGroup();
                    closers.go(p.a()::close);
                    closers.go(p.a()::close);
                    closers.go(p.b()::close);
                    closers.await();
                    all.await();
                });
            }
            assertEquals(0, Schedt.NETPOLLWAITERS.getVolatile(gmp.scheduler().sched));
        }
    }

    private static void endsClosedOrReset(Io.Body body) {
        IOException e = thrown(body);
        assertTrue(e == null || e instanceof ClosedException || e.getMessage().contains("ECONNRESET")
                || e.getMessage().contains("EPIPE"), () -> "" + e);
    }

    /** An interrupt of a thread that no scheduler of ours runs ends nothing, and is still there. Others: NetEndingsTest. */
    @Test
    void interrupts() throws Exception {
        try (Pair p = Pair.open()) {
            for (boolean virtual : new boolean[] {true, false}) {
                AtomicBoolean interrupted = new AtomicBoolean();
                Runnable body = io(() -> {
                    read(p.b()).run();
                    interrupted.set(Thread.interrupted());
                });
                Thread t = virtual ? Thread.startVirtualThread(body) : Thread.ofPlatform().start(body);
                t.interrupt();
                Thread.sleep(5);
                assertTrue(t.isAlive());
                p.a().write(new byte[1], 0, 1);
                t.join();
                assertTrue(interrupted.get());
            }
        }
    }

    /** A scheduler ends; its connections live on, in another's hands. */
    @Test
    void theSchedulerCloses() throws Exception {
        try (Pair p = Pair.open()) {
            for (int i = 0; i < 5; i++) {
                try (TestGmp gmp = TestGmp.procs(1)) {
                    gmp.run(() -> {
                        WaitGroup all = new WaitGroup();
                        all.go(io(read(p.b())));
                        TestGmp.awaitOthers();
                        io(() -> p.a().write(new byte[1], 0, 1)).run();
                        all.await();
                    });
                }
            }
            Thread reader = Thread.ofPlatform().start(() -> assertThrows(ClosedException.class, read(p.b())::run));
            Thread.sleep(5);
            p.b().close();
            reader.join();
        }
    }
}
