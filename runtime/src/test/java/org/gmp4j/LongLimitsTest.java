// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.gmp4j.context.Context;
import org.gmp4j.context.ContextException;
import org.gmp4j.metrics.LeakCheck;
import org.gmp4j.net.Dialer;
import org.gmp4j.net.ListenConfig;
import org.gmp4j.net.TcpConn;
import org.gmp4j.net.TcpListener;
import org.gmp4j.net.UdpConn;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Once;
import org.gmp4j.sync.OnceValue;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.gmp4j.trace.FlightRecorder;
import org.junit.jupiter.api.Test;

/**
 * Durations and instants that a count of nanoseconds does not hold, given to each public method that takes one: a limit that is too long
 * is for ever, one that is far below zero has passed. A method that waits really waits here: on the only P another goroutine, started just
 * before, is to end the wait.
 */
class LongLimitsTest {
    private static final Duration EVER = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final Duration PAST = Duration.ofSeconds(Long.MIN_VALUE);

    private static final Path CLASSES = Path.of("target/classes");

    private final Set<String> called = new TreeSet<>();

    private interface Call {
        void run() throws Exception;
    }

    private void call(String name, Call c) throws Exception {
        called.add(name);
        c.run();
    }

    /** The wait of {@code c} is ended by {@code ends}, in a goroutine that begins after it. */
    private void waits(String name, Runnable ends, Call c) throws Exception {
        Go.go(ends);
        call(name, c);
    }

    @Test
    void limits() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Task<Void> all = gmp.gmp.submit(() -> {
                channels();
                locks();
                groups();
                times(gmp.gmp);
                sockets();
                settings(gmp.gmp);
                return null;
            });
            assertNull(all.join());
            call("Gmp.close", () -> assertEquals("", gmp.gmp.close(EVER)));
        }
        Set<String> takers = takers();
        assertTrue(takers.remove("Task.get"), "TaskTest.getWithLimits");
        assertEquals(takers, called);
    }

    /** The public methods with a Duration, an Instant or a TimeUnit among their parameters. */
    private static Set<String> takers() throws Exception {
        Set<String> takers = new TreeSet<>();
        for (ModuleDescriptor.Exports e : module().exports()) {
            Path folder = CLASSES.resolve(e.source().replace('.', '/'));
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.class")) {
                for (Path f : files) {
                    Class<?> c = Class.forName(e.source() + "." + f.getFileName().toString().replace(".class", ""), false,
                            LongLimitsTest.class.getClassLoader());
                    for (Method m : Modifier.isPublic(c.getModifiers()) ? c.getDeclaredMethods() : new Method[0]) {
                        if (Modifier.isPublic(m.getModifiers()) && !m.isSynthetic() && List.of(m.getParameterTypes()).stream().anyMatch(
                                t -> t == Duration.class || t == Instant.class || t == TimeUnit.class)) {
                            takers.add(c.getSimpleName() + "." + m.getName());
                        }
                    }
                }
            }
        }
        return takers;
    }

    private static ModuleDescriptor module() throws IOException {
        try (InputStream in = Files.newInputStream(CLASSES.resolve("module-info.class"))) {
            return ModuleDescriptor.read(in);
        }
    }

    private void channels() throws Exception {
        Chan<Integer> c = Chan.make();
        waits("Chan.sendWithin", () -> assertEquals(1, c.recv()), () -> assertTrue(c.sendWithin(1, EVER)));
        call("SendChan.sendWithin", () -> assertFalse(c.sendWithin(1, PAST)));
        waits("Chan.recvWithin", () -> c.send(2), () -> assertEquals(2, c.recvWithin(EVER)));
        call("RecvChan.recvWithin", () -> assertNull(c.recvWithin(PAST)));
        waits("Chan.recvOkWithin", () -> c.send(3), () -> assertTrue(c.recvOkWithin(EVER).ok()));
        call("RecvChan.recvOkWithin", () -> assertNull(c.recvOkWithin(PAST)));
        LongChan l = LongChan.make();
        waits("LongChan.sendWithin", () -> assertEquals(1, l.recv()), () -> assertTrue(l.sendWithin(1, EVER)));
        waits("LongChan.recvWithin", () -> l.send(2), () -> assertEquals(2, l.recvWithin(EVER)));
        waits("LongChan.recvOkWithin", () -> l.send(3), () -> assertTrue(l.recvOkWithin(EVER).ok()));
        assertNull(l.recvOkWithin(PAST));
        int[] got = new int[1];
        waits("Select.timeout", () -> c.send(4), () -> Select.of().recv(c, v -> got[0] = v).timeout(EVER, () -> { }).run());
        assertEquals(4, got[0]);
        call("SelectOne.timeout", () -> assertEquals("over",
                Select.<String>one().recv(c, v -> "came").timeout(PAST, () -> "over").run()));
        ChanSubscription<Integer> s = new ChanSubscription<>(1);
        waits("ChanSubscription.recvWithin", () -> s.subscriber().onNext(5), () -> assertEquals(5, s.recvWithin(EVER)));
        assertNull(s.recvWithin(PAST));
    }

    private void locks() throws Exception {
        Mutex m = new Mutex();
        m.lock();
        waits("Mutex.lockWithin", m::unlock, () -> assertTrue(m.lockWithin(EVER)));
        assertFalse(m.lockWithin(PAST));
        RWMutex rw = new RWMutex();
        rw.lock();
        waits("RWMutex.rLockWithin", rw::unlock, () -> assertTrue(rw.rLockWithin(EVER)));
        assertFalse(rw.lockWithin(PAST));
        waits("RWMutex.lockWithin", rw::rUnlock, () -> assertTrue(rw.lockWithin(EVER)));
        assertFalse(rw.rLockWithin(PAST));
        Semaphore sem = new Semaphore(1);
        sem.acquire(1);
        waits("Semaphore.acquireWithin", () -> sem.release(1), () -> assertTrue(sem.acquireWithin(1, EVER)));
        assertFalse(sem.acquireWithin(1, PAST));
        Cond cond = new Cond(m);
        waits("Cond.awaitWithin", () -> m.withLock(cond::signal), // Which the wait gives free.
                 () -> assertTrue(cond.awaitWithin(EVER)));
        assertFalse(cond.awaitWithin(PAST));
        try (NativeEvent e = new NativeEvent()) {
            waits("NativeEvent.awaitWithin", () -> NativeEventTest.fire(e), () -> assertTrue(e.awaitWithin(EVER)));
            assertFalse(e.awaitWithin(PAST));
        }
    }

    private void groups() throws Exception {
        WaitGroup wg = new WaitGroup();
        wg.add(1);
        assertFalse(wg.awaitWithin(PAST));
        waits("WaitGroup.awaitWithin", wg::done, () -> assertTrue(wg.awaitWithin(EVER)));
        ErrGroup g = new ErrGroup();
        g.setLimit(1);
        Chan<Integer> c = Chan.make();
        g.go(c::recv);
        assertFalse(g.goWithin(Thread::onSpinWait, PAST));
        waits("ErrGroup.goWithin", () -> c.send(1), () -> assertTrue(g.goWithin(c::recv, EVER)));
        assertFalse(g.awaitWithin(PAST));
        waits("ErrGroup.awaitWithin", () -> c.send(2), () -> assertTrue(g.awaitWithin(EVER)));
        Once once = new Once();
        Go.go(() -> once.run(() -> assertEquals(3, nextOf(c))));
        assertEquals(0, c.recv());
        assertFalse(once.runWithin(() -> { }, PAST));
        waits("Once.runWithin", () -> c.send(3), () -> assertTrue(once.runWithin(() -> { }, EVER)));
        OnceValue<Integer> value = OnceValue.of(() -> nextOf(c));
        Go.go(() -> assertEquals(4, value.get()));
        assertEquals(0, c.recv());
        assertThrows(TimeoutException.class, () -> value.getWithin(PAST));
        waits("OnceValue.getWithin", () -> c.send(4), () -> assertEquals(4, value.getWithin(EVER)));
    }

    /** Says that it has begun, then receives. */
    private static Integer nextOf(Chan<Integer> c) {
        c.send(0);
        return c.recv();
    }

    private void times(Gmp gmp) throws Exception {
        try (Context ctx = Context.background().withCancel()) {
            waits("Go.sleepUnless", ctx::cancel, () -> assertThrows(ContextException.class, () -> Go.sleepUnless(ctx, EVER)));
        }
        call("Go.sleep", () -> Go.sleep(PAST));
        call("Go.sleepInterruptibly", () -> Go.sleepInterruptibly(PAST));
        try (Timer t = Time.newTimer(EVER); Ticker tick = Time.newTicker(EVER)) {
            call("Time.newTimer", () -> assertNull(t.c().tryRecv()));
            call("Timer.reset", () -> assertTrue(t.reset(EVER)));
            assertTrue(t.reset(PAST));
            assertNotNull(t.c().recv());
            call("Time.newTicker", () -> assertNull(tick.c().tryRecv()));
            call("Ticker.reset", () -> tick.reset(EVER));
            assertNull(tick.c().tryRecv());
        }
        call("Time.after", () -> assertNull(Time.after(EVER).tryRecv()));
        assertNotNull(Time.after(PAST).recv());
        call("Time.tick", () -> assertNull(Time.tick(EVER).tryRecv()));
        assertNull(Time.tick(PAST));
        call("Time.afterFunc", () -> assertTrue(Time.afterFunc(EVER, () -> { }).stop()));
        Context root = Context.background();
        for (Throwable cause : new Throwable[] {null, new ArithmeticException()}) {
            call("Context.withTimeout", () -> assertNull(root.withTimeout(EVER, cause).err()));
            assertNotNull(root.withTimeout(PAST, cause).err());
            call("Context.withDeadline", () -> assertNull(root.withDeadline(Instant.MAX, cause).err()));
            assertNotNull(root.withDeadline(Instant.MIN, cause).err());
        }
        Chan<Integer> c = Chan.make();
        waits("Gmp.runWithin", () -> c.send(1), () -> assertTrue(gmp.runWithin(() -> assertEquals(1, c.recv()), EVER)));
        assertFalse(gmp.runWithin(c::recv, PAST));
    }

    private void sockets() throws Exception {
        Dialer dialer = new Dialer();
        call("Dialer.timeout", () -> dialer.timeout(EVER));
        call("Dialer.deadline", () -> dialer.deadline(Instant.MAX));
        call("Dialer.fallbackDelay", () -> dialer.fallbackDelay(EVER));
        ByteBuffer b = ByteBuffer.allocate(1);
        try (TcpListener l = TcpListener.listen("127.0.0.1:0"); TcpConn to = dialer.dial("127.0.0.1:" + l.addr().getPort())) {
            call("Listener.acceptWithin", () -> { });
            TcpConn from = l.acceptWithin(EVER);
            assertThrows(SocketTimeoutException.class, () -> l.acceptWithin(PAST));
            call("Listener.setDeadline", () -> l.setDeadline(Instant.MAX));
            call("Listener.setDeadlineAfter", () -> l.setDeadlineAfter(EVER));
            for (Call deadline : List.<Call>of(() -> call("Conn.setDeadline", () -> from.setDeadline(Instant.MAX)),
                    () -> call("Conn.setReadDeadline", () -> from.setReadDeadline(Instant.MAX)),
                    () -> call("Conn.setWriteDeadline", () -> from.setWriteDeadline(Instant.MAX)),
                    () -> call("Conn.setDeadlineAfter", () -> from.setDeadlineAfter(EVER)),
                    () -> call("Conn.setReadDeadlineAfter", () -> from.setReadDeadlineAfter(EVER)),
                    () -> call("Conn.setWriteDeadlineAfter", () -> from.setWriteDeadlineAfter(EVER)))) {
                deadline.run();
                waits("Conn.readWithin", () -> write(to), () -> assertEquals(1, from.readWithin(b.clear(), EVER)));
                call("Conn.writeWithin", () -> assertEquals(1, from.writeWithin(b.flip(), EVER)));
            }
            assertThrows(SocketTimeoutException.class, () -> from.readWithin(b.clear(), PAST));
            call("TcpConn.setKeepAlive", () -> assertThrows(IOException.class, () -> from.setKeepAlive(EVER, PAST, 1)));
            from.close();
        }
        try (UdpConn u = UdpConn.listen("127.0.0.1:0")) {
            call("DatagramConn.writeToWithin", () -> assertEquals(1, u.writeToWithin(b.clear(), u.localAddr(), EVER)));
            call("DatagramConn.readFromWithin", () -> assertNotNull(u.readFromWithin(b.clear(), EVER)));
            assertThrows(SocketTimeoutException.class, () -> u.readFromWithin(b.clear(), PAST));
        }
    }

    private static void write(TcpConn to) {
        try {
            assertEquals(1, to.write(ByteBuffer.allocate(1)));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void settings(Gmp gmp) throws Exception {
        for (Duration d : List.of(EVER, PAST)) {
            for (Call c : List.<Call>of(() -> call("SpinPolicy.latency", () -> SpinPolicy.latency(d)),
                    () -> call("Dialer.keepAlive", () -> new Dialer().keepAlive(d)),
                    () -> call("ListenConfig.keepAlive", () -> new ListenConfig().keepAlive(d)),
                    () -> call("Builder.idleThreads", () -> Gmp.builder().idleThreads(d).build()),
                    () -> call("Builder.quantum", () -> Gmp.builder().quantum(d).build()),
                    () -> call("Builder.quantum", () -> Gmp.builder().quantum(d, d).build()))) {
                assertThrows(IllegalArgumentException.class, c::run);
            }
        }
        call("Gmp.setBlockProfileRate", () -> gmp.setBlockProfileRate(EVER));
        gmp.setBlockProfileRate(Duration.ZERO);
        call("Gmp.startCpuProfile", () -> gmp.startCpuProfile(EVER).close());
        call("FlightRecorder.start", () -> FlightRecorder.start(gmp, EVER, 1 << 20).close());
        assertThrows(IllegalArgumentException.class, () -> FlightRecorder.start(gmp, PAST));
        try (FlightRecorder f = FlightRecorder.start(gmp, EVER)) {
            call("FlightRecorder.snapshotOnLatency", () -> f.snapshotOnLatency(EVER, Path.of("never")));
        }
        LeakCheck check = gmp.leakCheck();
        call("LeakCheck.assertNoLeaks", () -> check.assertNoLeaks(EVER));
        check.assertNoLeaks(PAST);
    }
}
