// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.testing.Kind.always;
import static org.gmp4j.testing.Kind.pause;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

import org.gmp4j.Chan;
import org.gmp4j.context.Context;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.Kind;
import org.gmp4j.testing.Kind.Form;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;

/**
 * All waits for sockets, of all kinds of threads, ended in all ways: by what they wait for, an interrupt, a deadline, a context, a close.
 */
class NetEndingsTest {
    private static final Duration SOON = Duration.ofMillis(2);
    private static final Duration LONG = Duration.ofHours(1);
    private static final byte[] LARGE = new byte[16 << 20];

    /**
     * Something to wait for, fresh.
     *
     * @param interruptibly the same wait, ended by any interrupt; so the next two, ended by a context and by a time
     * @param comes lets it end well
     * @param limit sets its deadline
     * @param closes ends it for good
     */
    private record Wait(String name, Form form, Form interruptibly, Function<Context, Form> unless, Function<Duration, Form> within,
            Io.Body comes, Consumer<Duration> limit, Closeable closes) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            closes.close();
        }
    }

    @FunctionalInterface
    private interface Opens {
        Wait open() throws IOException;
    }

    private static List<Opens> waits() {
        return List.of(NetEndingsTest::read, NetEndingsTest::turn, NetEndingsTest::write, NetEndingsTest::accept, NetEndingsTest::receive,
                () -> receiveFrom(false), () -> receiveFrom(true));
    }

    private static Consumer<Duration> limit(Conn c) {
        return d -> Io.io(() -> c.setDeadlineAfter(d)).run();
    }

    private static Wait read() throws IOException {
        Pair p = Pair.open();
        return reads("read", p, 1);
    }

    private static Wait reads(String name, Pair p, int bytes) {
        ByteBuffer to = ByteBuffer.allocate(1);
        return new Wait(name, always(() -> assertEquals(1, p.a().read(ByteBuffer.allocate(1)))),
                always(() -> p.a().readInterruptibly(to)), x -> always(() -> p.a().readUnless(x, to)),
                d -> always(() -> p.a().readWithin(to, d)), () -> p.b().write(new byte[bytes], 0, bytes), limit(p.a()), p::close);
    }

    /** Another reads, and has the turn; a goroutine of no scheduler that anybody interrupts. */
    private static Wait turn() throws IOException {
        Pair p = Pair.open();
        Chan<Boolean> begins = Chan.make();
        Thread first = Thread.startVirtualThread(() -> {
            begins.send(true);
            IOException _ = Io.thrown(() -> p.a().read(ByteBuffer.allocate(1)));
        });
        boolean _ = begins.recv();
        Kind.pause(1);
        return reads("turn", p, 2);
    }

    private static Wait write() throws IOException {
        Pair p = Pair.open();
        return new Wait("write", always(() -> p.a().write(LARGE, 0, LARGE.length)),
                always(() -> p.a().writeInterruptibly(ByteBuffer.wrap(LARGE))),
                x -> always(() -> p.a().writeUnless(x, ByteBuffer.wrap(LARGE))),
                d -> always(() -> p.a().writeWithin(ByteBuffer.wrap(LARGE), d)),
                () -> Thread.startVirtualThread(() -> {
                    IOException _ = Io.thrown(() -> Io.readFully(p.b(), new byte[LARGE.length])); // It ends when the pair is closed.
                }), limit(p.a()), p::close);
    }

    private static Wait accept() throws IOException {
        TcpListener l = TcpListener.listen(Io.LOOPBACK);
        return new Wait("accept", always(() -> l.accept().close()), always(() -> l.acceptInterruptibly().close()),
                x -> always(() -> l.acceptUnless(x).close()), d -> always(() -> l.acceptWithin(d).close()),
                () -> TcpConn.dial(Io.text(l)).close(),
                d -> Io.io(() -> l.setDeadlineAfter(d)).run(), l);
    }

    private static Wait receive() throws IOException {
        UdpConn u = UdpConn.listen(Io.LOOPBACK);
        ByteBuffer to = ByteBuffer.allocate(1);
        return new Wait("receive", always(() -> assertEquals(1, u.read(ByteBuffer.allocate(1)))), always(() -> u.readInterruptibly(to)),
                x -> always(() -> u.readUnless(x, to)), d -> always(() -> u.readWithin(to, d)), () -> datagrams(u, 1), limit(u), u);
    }

    private static void datagrams(UdpConn to, int n) throws IOException {
        try (UdpConn from = new Dialer().dialUdp(Addresses.text(to.localAddr()))) {
            for (int i = 0; i < n; i++) {
                int _ = from.write(ByteBuffer.allocate(1));
            }
        }
    }

    /** With the sender's address; another may wait for one already, and has the place for it. */
    private static Wait receiveFrom(boolean another) throws IOException {
        UdpConn u = UdpConn.listen(Io.LOOPBACK);
        if (another) {
            Chan<Boolean> begins = Chan.make();
            Thread _ = Thread.startVirtualThread(() -> {
                begins.send(true);
                IOException _ = Io.thrown(() -> u.readFrom(ByteBuffer.allocate(1)));
            });
            boolean _ = begins.recv();
            pause(1);
        }
        ByteBuffer to = ByteBuffer.allocate(1);
        return new Wait("receive from, another: " + another, always(() -> assertNotNull(u.readFrom(ByteBuffer.allocate(1)))),
                always(() -> u.readFromInterruptibly(to)), x -> always(() -> u.readFromUnless(x, to)),
                d -> always(() -> u.readFromWithin(to, d)), () -> datagrams(u, another ? 2 : 1), limit(u), u);
    }

    /** What interrupts end lets others go on: what comes afterwards is for the next. */
    @Stress
    void everyWaitEnds() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (Kind k : Kind.of(gmp)) {
                for (Opens o : waits()) {
                    for (int round = 0; round < 2; round++) {
                        ends(k, o, round);
                    }
                }
            }
        }
    }

    private static void ends(Kind k, Opens o, int round) throws Exception {
        try (Wait w = o.open()) {
            String where = w.name + ", " + k;
            boolean ends = k.endsByInterrupt();
            Object end = k.on(w.form, t -> {
                pause(round);
                t.interrupt();
                if (!ends) {
                    Io.io(w.comes).run();
                }
            });
            if (ends) {
                interrupted(end, where);
                if (!w.name.equals("write")) { // It has sent a part.
                    assertEquals("true", k.on(w.form, t -> {
                        pause(round);
                        Io.io(w.comes).run();
                    }), where);
                }
            } else {
                assertEquals("true interrupted", end, where);
            }
        }
        timesOut(k, o, w -> w.limit.accept(SOON));
        timesOut(k, o, w -> {
            pause(round);
            w.limit.accept(Duration.ZERO);
        });
        Context x = Context.background().withCancel();
        List<BooleanSupplier> stops = new ArrayList<>();
        timesOut(k, o, w -> {
            stops.add(x.afterFunc(() -> w.limit.accept(Duration.ZERO)));
            pause(round);
            x.cancel();
        });
        assertEquals(1, stops.size());
        try (Wait w = o.open()) {
            Object end = k.on(w.form, t -> {
                pause(round);
                Io.io(w.closes::close).run();
            });
            assertInstanceOf(ClosedException.class, end, () -> w.name + ", " + k);
        }
    }

    /** The forms that name what ends them; nothing is left of a wait that was ended. */
    @Stress
    void everyFormEnds() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            int i = 0;
            for (Kind k : Kind.of(gmp)) {
                for (Opens o : waits()) {
                    try (Wait w = o.open()) {
                        forms(k, w, i++ % 2); // An odd number of waits: each comes at both times, on one kind of threads or another.
                    }
                }
            }
        }
    }

    private static void forms(Kind k, Wait w, int round) throws Exception {
        String where = w.name + ", " + k;
        assertEquals("InterruptedException", k.on(w.interruptibly, t -> {
            pause(round);
            t.interrupt();
        }), where);
        assertEquals("InterruptedException", k.on(() -> {
            Thread.currentThread().interrupt();
            return w.interruptibly.await();
        }, t -> { }), where);
        Context x = Context.background().withCancel();
        assertSame(Context.CANCELED, k.on(w.unless.apply(x), t -> {
            pause(round);
            x.cancel();
        }), where);
        assertSame(Context.CANCELED, k.on(w.unless.apply(x), t -> { }), where);
        try (Context y = Context.background().withTimeout(SOON)) {
            assertSame(Context.DEADLINE_EXCEEDED, k.on(w.unless.apply(y), t -> { }), where);
        }
        assertInstanceOf(SocketTimeoutException.class, k.on(w.within.apply(SOON), t -> { }), where);
        assertInstanceOf(SocketTimeoutException.class, k.on(w.within.apply(Duration.ZERO), t -> { }), where);
        if (k.endsByInterrupt()) {
            for (Form f : List.of(w.within.apply(LONG), w.unless.apply(Context.background().withCancel()))) {
                interrupted(k.on(f, t -> {
                    pause(round);
                    t.interrupt();
                }), where);
            }
        }
        if (!w.name.equals("write")) { // It has sent a part.
            assertEquals("true", k.on(w.form, t -> {
                pause(round);
                Io.io(w.comes).run();
            }), where);
        }
    }

    private static void timesOut(Kind k, Opens o, Consumer<Wait> meanwhile) throws Exception {
        try (Wait w = o.open()) {
            Object end = k.on(w.form, t -> meanwhile.accept(w));
            assertInstanceOf(SocketTimeoutException.class, end, () -> w.name + ", " + k);
        }
    }

    private static void interrupted(Object end, String where) {
        assertEquals(InterruptedIOException.class, end.getClass(), where);
        assertTrue(((Exception) end).getMessage().endsWith(": interrupted"), () -> where + ": " + end);
    }

    /** A read that was ended has read nothing, a write says how much it wrote, and the status stays set. */
    @Test
    void nothingIsLost() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open()) {
            int[] written = new int[1];
            Thread t = gmp.gmp.threadFactory().newThread(() -> {
                ByteBuffer all = ByteBuffer.wrap(Io.pattern(LARGE.length));
                InterruptedIOException e = (InterruptedIOException) Io.thrown(() -> p.a().write(all));
                assertTrue(Thread.interrupted());
                assertEquals(all.position(), e.bytesTransferred);
                written[0] = all.position();
                p.a().close();
            });
            t.start();
            byte[] first = new byte[1];
            Io.readFully(p.b(), first);
            t.interrupt();
            t.join();
            byte[] rest = p.b().inputStream().readAllBytes();
            assertEquals(written[0], rest.length + 1);
            assertEquals(Io.pattern(LARGE.length)[rest.length], rest[rest.length - 1]);
        }
    }

    /** Readers take turns while some of them are interrupted: each byte goes to one, and none of the turns is lost. */
    @Stress
    void turnsAndInterrupts() throws Exception {
        int n = 2_000;
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open()) {
            List<Thread> readers = new ArrayList<>();
            int[] got = new int[4];
            for (int r = 0; r < got.length; r++) {
                int me = r;
                Runnable reader = () -> {
                    ByteBuffer b = ByteBuffer.allocate(1);
                    for (boolean more = true; more;) {
                        try {
                            more = p.a().read(b.clear()) > 0;
                            got[me] += more ? 1 : 0;
                        } catch (InterruptedIOException e) {
                            boolean _ = Thread.interrupted();
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    }
                };
                readers.add(r == 0 ? Thread.ofPlatform().daemon().unstarted(reader) : gmp.gmp.threadFactory().newThread(reader));
            }
            readers.forEach(Thread::start);
            Thread writer = Thread.startVirtualThread(Io.io(() -> {
                for (int i = 0; i < n; i++) {
                    p.b().write(new byte[1], 0, 1);
                    Thread.yield();
                }
                p.b().close();
            }));
            for (int i = 0; readers.stream().anyMatch(Thread::isAlive); i++) {
                readers.get(i % got.length).interrupt();
                Thread.onSpinWait();
            }
            writer.join();
            assertEquals(n, got[0] + got[1] + got[2] + got[3]);
            gmp.check();
        }
    }

    /** A send to an address waits only while the kernel has no room; what has ended before it ends it all the same. */
    @Test
    void sendsToAnAddress() throws Exception {
        try (UdpConn from = UdpConn.listen(Io.LOOPBACK); UdpConn to = UdpConn.listen(Io.LOOPBACK)) {
            ByteBuffer b = ByteBuffer.allocate(1);
            assertEquals(1, from.writeToWithin(b, to.localAddr(), Duration.ZERO));
            assertEquals(1, to.read(b.clear()));
            Context x = Context.background().withCancel();
            assertEquals(1, from.writeToUnless(x, b.clear(), to.localAddr()));
            assertEquals(1, from.writeToInterruptibly(b.clear(), to.localAddr()));
            x.cancel();
            assertSame(Context.CANCELED, Kind.said(always(() -> from.writeToUnless(x, b.clear(), to.localAddr()))));
            Thread.currentThread().interrupt();
            assertEquals("InterruptedException", Kind.said(always(() -> from.writeToInterruptibly(b.clear(), to.localAddr()))));
            assertEquals(2, to.read(b.clear()) + to.read(b.clear()));
            assertThrows(SocketTimeoutException.class, () -> to.readWithin(b.clear(), Duration.ZERO), "none was sent by those that ended");
        }
    }

    /**
     * Calls without forms of their own are limited by a deadline, which the end of a context sets: those that wait already, and the next.
     */
    @Test
    void aContextsEndSetsADeadline() throws Exception {
        ByteBuffer[] buffers = {ByteBuffer.allocate(1), ByteBuffer.allocate(2)};
        MemorySegment[] segments = {MemorySegment.ofArray(new byte[1]), MemorySegment.ofArray(new byte[2])};
        List<Function<TcpConn, Callable<?>>> reads = List.of(c -> () -> c.read(buffers), c -> () -> c.read(buffers, 1, 1),
                c -> () -> c.read(segments),
                c -> () -> c.read(segments[1]), c -> () -> c.read(new byte[3], 1, 2));
        for (Function<TcpConn, Callable<?>> read : reads) {
            try (Pair p = Pair.open()) {
                Context ctx = Context.background().withCancel();
                BooleanSupplier _ = ctx.afterFunc(Io.io(() -> p.a().setDeadlineAfter(Duration.ZERO)));
                Thread _ = Thread.startVirtualThread(() -> {
                    LockSupport.parkNanos(SOON.toNanos());
                    ctx.cancel();
                });
                assertThrows(SocketTimeoutException.class, () -> read.apply(p.a()).call());
                assertThrows(SocketTimeoutException.class, () -> read.apply(p.a()).call());
            }
        }
    }

    /** A bubble's clock stands still while a goroutine waits for a socket. The machine's clock measures the limit of the wait. */
    @Test
    void inABubble() throws Exception {
        try (Pair p = Pair.open()) {
            theClockStandsStill(p);
        }
    }

    private static void theClockStandsStill(Pair p) {
        Synctest.test(() -> {
            AtomicBoolean moved = new AtomicBoolean();
            Timer later = Time.afterFunc(LONG, () -> moved.set(true));
            assertThrows(SocketTimeoutException.class, () -> p.a().readWithin(ByteBuffer.allocate(1), SOON));
            boolean still = !moved.get();
            boolean _ = later.stop();
            assertTrue(still, "the clock has moved on");
        });
    }

    /** A bubble's clock stands still while a goroutine waits for its turn behind a reader outside of the bubble. */
    @Test
    void inABubbleBehindAnother() throws Exception {
        try (Pair p = Pair.open()) {
            CountDownLatch ended = new CountDownLatch(1);
            Thread reader = Thread.startVirtualThread(() -> {
                IOException _ = Io.thrown(() -> p.a().read(ByteBuffer.allocate(1)));
                ended.countDown();
            });
            while (reader.getState() != Thread.State.WAITING) { // For what it reads.
                Thread.onSpinWait();
            }
            theClockStandsStill(p);
            p.a().close();
            ended.await();
        }
    }

    /** A reader that takes a little now and then has the writer wait again and again. */
    @Test
    void oneTimeForAllWaitsOfACall() throws Exception {
        try (Pair p = Pair.open()) {
            Thread _ = Thread.startVirtualThread(() -> {
                ByteBuffer some = ByteBuffer.allocate(1 << 16);
                IOException _ = Io.thrown(() -> {
                    while (p.b().read(some.clear()) > 0) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    throw new IOException();
                });
            });
            assertThrows(SocketTimeoutException.class, () -> p.a().writeWithin(ByteBuffer.wrap(LARGE), Duration.ofMillis(50)));
        }
    }

    /** A server and a client that wait in their sockets end with their executor. */
    @Test
    void shutdownNow() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); TcpListener l = TcpListener.listen(Io.LOOPBACK)) {
            ExecutorService service = gmp.gmp.newThreadPerTaskExecutor();
            Chan<Boolean> begun = Chan.make();
            List<Future<?>> tasks = List.of(service.submit(() -> {
                l.serve(c -> {
                    begun.send(true);
                    IOException _ = Io.thrown(() -> Io.echo(c));
                    c.close();
                });
                return null;
            }), service.submit(() -> {
                try (TcpConn c = TcpConn.dial(Io.text(l))) {
                    return c.read(ByteBuffer.allocate(1));
                }
            }));
            boolean _ = begun.recv();
            service.shutdownNow();
            service.close();
            for (Future<?> f : tasks) {
                interrupted(assertThrows(ExecutionException.class, f::get).getCause(), "shutdownNow");
            }
        }
    }

    /** A dial of an address that does not answer, and of two families. */
    @Test
    void dials() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); TcpListener full = new ListenConfig().backlog(1).listen(Io.LOOPBACK)) {
            Kind k = Kind.of(gmp).get(2);
            InetSocketAddress to = full.addr();
            Dialer d = new Dialer();
            Chan<InetAddress[]> answer = Chan.make();
            List<Form> forms = List.of(always(() -> Lookup.apart(() -> {
                InetAddress[] _ = answer.recv();
                return new InetAddress[0];
            }, 1L << 60, Context.background(), "tcp nowhere")), always(() -> fill(() -> d.dial(Context.background(), to))));
            for (Form f : forms) {
                interrupted(k.on(f, Thread::interrupt), "dial");
            }
            answer.close();
            for (Kind each : Kind.of(gmp)) {
                Form dials = always(() -> fill(() -> d.dialInterruptibly(Context.background(), Addresses.text(to))));
                assertEquals("InterruptedException", each.on(dials, Thread::interrupt), each::toString);
            }
        }
        try (TcpListener l = TcpListener.listen(Io.LOOPBACK);
                TcpConn c = new Dialer().dialInterruptibly(Context.background(), Io.text(l))) {
            assertTrue(c.isOpen());
        }
        assertThrows(ConnectException.class, () -> new Dialer().dialInterruptibly(Context.background(), "127.0.0.1:1"));
    }

    /** Until the listener has as many as it lets wait, and the next waits. */
    private static void fill(Callable<TcpConn> dial) throws Exception {
        List<TcpConn> all = new ArrayList<>();
        try {
            for (;;) {
                all.add(dial.call());
            }
        } finally {
            all.forEach(TcpConn::close);
        }
    }
}
