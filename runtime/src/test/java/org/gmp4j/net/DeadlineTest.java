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
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Go;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deadlines, by the behaviours of Go's {@code timeout_test.go}. No test says how late one may be. */
class DeadlineTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private static void timesOut(Io.Body body) {
        SocketTimeoutException e = assertInstanceOf(SocketTimeoutException.class, thrown(body));
        assertTrue(e.getMessage().endsWith(": i/o timeout"), e::getMessage);
    }

    private static Io.Body read(Conn c) {
        return () -> assertEquals(1, c.read(new byte[1], 0, 1));
    }

    /** Fills the buffers between two ends, so that the next write waits. */
    private static void fill(Pair p) throws IOException {
        ByteBuffer much = ByteBuffer.allocateDirect(1 << 20);
        for (boolean full = false; !full;) { // On a busy machine a deadline passes while there is room.
            p.a().setWriteDeadlineAfter(Duration.ofMillis(50));
            try {
                p.a().write(much.clear());
            } catch (SocketTimeoutException e) {
                full = e.bytesTransferred == 0;
            }
        }
        p.a().setWriteDeadline(null);
    }

    /** A deadline in the past ends everything at once, also a read of what is there, and can be taken back. */
    @Test
    void readTimeout() throws Exception {
        TestGmp.everywhere(() -> {
            try (Pair p = Pair.open()) {
                Duration[] past = {Duration.ofMillis(1), Duration.ZERO, Duration.ofNanos(-1), HOUR.negated()};
                for (Duration d : past) {
                    p.b().setReadDeadlineAfter(d);
                    timesOut(read(p.b()));
                    timesOut(read(p.b())); // And goes on to.
                }
                p.b().setReadDeadline(Instant.now().minusSeconds(1));
                p.a().write(new byte[2], 0, 2);
                timesOut(read(p.b()));
                p.b().setReadDeadline(Instant.MAX);
                read(p.b()).run();
                p.b().setDeadline(Instant.MIN);
                timesOut(read(p.b()));
                p.b().setReadDeadline(null);
                read(p.b()).run();
                timesOut(() -> p.b().write(new byte[1], 0, 1));
                p.b().setWriteDeadlineAfter(HOUR);
                p.b().write(new byte[1], 0, 1);
            }
        });
    }

    /** It comes not before its time. */
    @Test
    void notTooSoon() throws Exception {
        TestGmp.everywhere(() -> {
            try (Pair p = Pair.open()) {
                for (int ms : new int[] {1, 5, 20}) {
                    long start = System.nanoTime();
                    p.b().setReadDeadlineAfter(Duration.ofMillis(ms));
                    timesOut(read(p.b()));
                    assertTrue(System.nanoTime() - start >= ms * 1_000_000L);
                }
            }
        });
    }

    @Test
    void writeTimeout() throws Exception {
        TestGmp.everywhere(() -> {
            try (Pair p = Pair.open()) {
                fill(p);
                ByteBuffer b = ByteBuffer.allocateDirect(1 << 20);
                p.a().setWriteDeadlineAfter(Duration.ofMillis(5));
                SocketTimeoutException e = assertThrows(SocketTimeoutException.class, () -> p.a().write(b));
                assertEquals(e.bytesTransferred, b.position());
                timesOut(() -> p.a().write(b));
            }
        });
    }

    /** No deadline that was set and taken back, or moved away, ends a read. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void readTimeoutMustNotReturn(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs); Pair p = Pair.open()) {
            gmp.run(io(() -> {
                WaitGroup all = new WaitGroup();
                p.b().setWriteDeadlineAfter(Duration.ofMillis(1));
                p.b().setDeadlineAfter(Duration.ofMillis(20));
                p.b().setReadDeadline(null);
                AtomicBoolean over = new AtomicBoolean();
                all.go(io(() -> {
                    read(p.b()).run();
                    over.set(true);
                }));
                Go.sleep(Duration.ofMillis(40)); // Both alarms ring meanwhile.
                assertTrue(!over.get());
                p.a().write(new byte[1], 0, 1);
                all.await();
            }));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void acceptTimeoutMustNotReturn(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs); TcpListener l = TcpListener.listen(LOOPBACK)) {
            gmp.run(io(() -> {
                WaitGroup all = new WaitGroup();
                l.setDeadlineAfter(Duration.ofMillis(20));
                l.setDeadline(null);
                AtomicBoolean over = new AtomicBoolean();
                all.go(io(() -> {
                    l.accept().close();
                    over.set(true);
                }));
                Go.sleep(Duration.ofMillis(40));
                assertTrue(!over.get());
                TcpConn.dial(text(l)).close();
                all.await();
                l.setDeadlineAfter(Duration.ofMillis(1));
                timesOut(() -> l.accept().close());
                TcpConn c = TcpConn.dial(text(l));
                timesOut(() -> l.accept().close());
                l.setDeadlineAfter(HOUR);
                l.accept().close();
                c.close();
            }));
        }
    }

    /** A deadline is moved during a wait: to earlier, to later, away, into the past; each move counts. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void movedWhileWaiting(int procs) throws Exception {
        Duration[] moves = {HOUR, Duration.ofMillis(2), null, HOUR, Duration.ofSeconds(2), Duration.ofMillis(1),
            Duration.ZERO};
        try (TestGmp gmp = TestGmp.procs(procs); Pair p = Pair.open()) {
            for (int last = 0; last < moves.length; last++) {
                int n = last;
                boolean ends = moves[n] != null && moves[n].toMillis() < 1000;
                p.b().setReadDeadlineAfter(n % 2 == 0 ? HOUR : null);
                gmp.run(io(() -> {
                    WaitGroup all = new WaitGroup();
                    long start = System.nanoTime();
                    AtomicBoolean over = new AtomicBoolean();
                    all.go(() -> {
                        if (ends) {
                            timesOut(read(p.b()));
                        } else {
                            io(read(p.b())).run();
                        }
                        over.set(true);
                    });
                    TestGmp.awaitOthers();
                    for (int i = 0; i <= n; i++) {
                        if (i == n || moves[i] == null || moves[i].toMillis() > 1000) {
                            p.b().setReadDeadlineAfter(moves[i]);
                        }
                    }
                    if (!ends) {
                        Go.sleep(Duration.ofMillis(5));
                        assertTrue(!over.get());
                        p.a().write(new byte[1], 0, 1);
                    }
                    all.await();
                    assertTrue(!ends || System.nanoTime() - start >= moves[n].toNanos());
                }));
            }
        }
    }

    /** A deadline that is always moved on, a little before its time, never comes. The old alarm rings and finds that out. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anOldAlarmIsNoDeadline(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs); Pair p = Pair.open()) {
            gmp.run(io(() -> {
                WaitGroup all = new WaitGroup();
                AtomicInteger reads = new AtomicInteger();
                p.b().setReadDeadlineAfter(Duration.ofMillis(3));
                p.b().setReadDeadlineAfter(HOUR); // The alarm of 3 ms stays.
                all.go(io(() -> {
                    for (int i = 0; i < 3; i++) {
                        read(p.b()).run();
                        reads.incrementAndGet();
                    }
                }));
                Go.sleep(Duration.ofMillis(10));
                assertEquals(0, reads.get());
                p.a().write(new byte[1], 0, 1);
                p.b().setReadDeadlineAfter(Duration.ofMillis(500));
                p.b().setReadDeadlineAfter(HOUR);
                p.a().write(new byte[2], 0, 2);
                all.await();
                long start = System.nanoTime();
                p.b().setReadDeadlineAfter(Duration.ofMillis(3));
                p.b().setReadDeadlineAfter(Duration.ofMillis(8)); // The look at 3 ms sees to this.
                timesOut(read(p.b()));
                assertTrue(System.nanoTime() - start >= 8_000_000);
            }));
        }
    }

    /** Deadlines of all lengths, again and again, as the peer sends without end. */
    private static void variousDeadlines(int procs) throws Exception {
        long[] nanos = {1, 500, 1_000, 10_000, 100_000, 1_000_000, 3_000_000, 20_000_000, 0, -1};
        try (TestGmp gmp = TestGmp.procs(procs)) {
            TcpListener l = TcpListener.listen(LOOPBACK);
            gmp.go(io(() -> l.serve(c -> {
                byte[] b = new byte[256];
                IOException _ = thrown(() -> {
                    for (;;) {
                        c.write(b, 0, b.length);
                    }
                });
                c.close();
            })));
            gmp.run(io(() -> {
                for (long n : nanos) {
                    for (int run = 0; run < 3; run++) {
                        try (TcpConn c = TcpConn.dial(text(l))) {
                            long start = System.nanoTime();
                            c.setDeadlineAfter(Duration.ofNanos(n));
                            byte[] b = new byte[1 << 16];
                            timesOut(() -> {
                                for (;;) {
                                    assertTrue(c.read(b, 0, b.length) > 0);
                                }
                            });
                            assertTrue(System.nanoTime() - start >= n);
                        }
                    }
                }
                l.close();
            }));
        }
    }

    @Test
    void variousDeadlines1Proc() throws Exception {
        variousDeadlines(1);
    }

    @Test
    void variousDeadlines4Proc() throws Exception {
        variousDeadlines(4);
    }

    /** Reads, writes and deadlines of both at once: each call ends by data or by its time, and nothing hangs. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void readWriteDeadlineRace(int procs) throws Exception {
        int rounds = 500;
        try (TestGmp gmp = TestGmp.procs(procs); Pair p = Pair.open()) {
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                all.go(io(() -> {
                    for (int i = 0; i < rounds; i++) {
                        p.a().setReadDeadlineAfter(Duration.ofNanos(ThreadLocalRandom.current().nextInt(100_000)));
                        p.a().setWriteDeadlineAfter(Duration.ofNanos(ThreadLocalRandom.current().nextInt(100_000)));
                        if (i % 8 == 0) {
                            Go.sleep(Duration.ofNanos(20_000));
                        }
                    }
                }));
                all.go(() -> {
                    for (int i = 0; i < rounds; i++) {
                        IOException e = thrown(() -> p.a().read(new byte[1], 0, 1));
                        assertTrue(e == null || e instanceof SocketTimeoutException, () -> "" + e);
                    }
                });
                all.go(() -> {
                    for (int i = 0; i < rounds; i++) {
                        IOException e = thrown(() -> p.a().write(new byte[1], 0, 1));
                        assertTrue(e == null || e instanceof SocketTimeoutException, () -> "" + e);
                    }
                });
                all.await();
            });
            assertEquals(0, Schedt.NETPOLLWAITERS.getVolatile(gmp.scheduler().sched));
            gmp.check();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void concurrentSetDeadline(int procs) throws Exception {
        int conns = 8;
        try (TestGmp gmp = TestGmp.procs(procs)) {
            Pair[] pairs = new Pair[conns];
            for (int i = 0; i < conns; i++) {
                pairs[i] = Pair.open();
            }
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                for (int g = 0; g < conns; g++) {
                    Random random = new Random(g);
                    all.go(io(() -> {
                        for (int i = 0; i < 300; i++) {
                            Conn c = pairs[random.nextInt(conns)].a();
                            switch (random.nextInt(4)) {
                                case 0 -> c.setReadDeadlineAfter(HOUR.plusMillis(random.nextInt(1000)));
                                case 1 -> c.setWriteDeadline(Instant.now().plusSeconds(2));
                                case 2 -> c.setDeadlineAfter(Duration.ofNanos(random.nextInt(10_000)));
                                default -> c.setDeadline(null);
                            }
                        }
                    }));
                }
                all.await();
            });
            for (Pair p : pairs) {
                p.a().setDeadline(null);
                p.b().write(new byte[1], 0, 1);
                read(p.a()).run();
                p.close();
            }
        }
    }

    /** Data and deadline at about the same moment: no byte is lost to a read that timed out. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void deadlineAgainstData(int procs) throws Exception {
        int rounds = 500;
        try (TestGmp gmp = TestGmp.procs(procs); Pair p = Pair.open()) {
            AtomicInteger turn = new AtomicInteger();
            Thread writer = Thread.ofPlatform().start(io(() -> {
                for (int i = 1; i <= rounds; i++) {
                    while (turn.get() < i) {
                        Thread.onSpinWait();
                    }
                    for (long end = System.nanoTime() + ThreadLocalRandom.current().nextInt(200_000);
                            System.nanoTime() < end;) {
                        Thread.onSpinWait();
                    }
                    p.a().write(new byte[1], 0, 1);
                }
            }));
            gmp.run(io(() -> {
                byte[] b = new byte[rounds];
                int got = 0;
                for (int i = 1; i <= rounds; i++) {
                    turn.set(i);
                    p.b().setReadDeadlineAfter(Duration.ofNanos(1 + ThreadLocalRandom.current().nextInt(200_000)));
                    try {
                        got += p.b().read(b, 0, b.length);
                    } catch (SocketTimeoutException e) {
                        assertEquals(0, e.bytesTransferred);
                    }
                }
                p.b().setReadDeadline(null);
                while (got < rounds) {
                    got += p.b().read(b, 0, b.length);
                }
                assertEquals(rounds, got);
            }));
            writer.join();
        }
    }

    /** Data come when the time of a wait is up, but before the reader has run: its next read finds them. */
    @Test
    void dataThatAWaitHadNoTimeFor() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1))); Pair p = Pair.open()) {
            Scheduler s = gmp.scheduler();
            gmp.run(io(() -> {
                p.a().write(new byte[1], 0, 1);
                WaitGroup all = new WaitGroup();
                all.go(io(() -> {
                    byte[] b = new byte[2];
                    assertEquals(1, p.b().read(b, 0, 2));
                    timesOut(() -> p.b().read(b, 0, 2));
                    p.b().setReadDeadlineAfter(Duration.ofSeconds(5));
                    assertEquals(1, p.b().read(b, 0, 2));
                }));
                TestGmp.awaitOthers();
                p.b().setReadDeadlineAfter(Duration.ZERO); // The reader is ready, and has no P.
                p.a().write(new byte[1], 0, 1);
                GStack st = GStack.enter();
                assertEquals(0, s.netpoll().poll(s, 0), "somebody waits");
                GStack.exit(st);
                all.await();
            }));
        }
    }

    /** A second reader waits no longer than the first reads. */
    @Test
    void readersInLine() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1); Pair p = Pair.open()) {
            gmp.run(io(() -> {
                WaitGroup all = new WaitGroup();
                for (int i = 0; i < 3; i++) {
                    all.go(() -> timesOut(read(p.b())));
                }
                TestGmp.awaitOthers();
                p.b().setReadDeadlineAfter(Duration.ofMillis(1));
                all.await();
            }));
        }
    }
}
