// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The network poller itself, on event descriptors that goroutines wait for as the JDK's sockets do. */
class NetpollerTest {
    private static final JdkWaits WAITS = JdkWaits.INSTANCE;

    private static void register(int fd, boolean write) {
        try {
            assertTrue(WAITS.register(fd, write));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits as {@code sun.nio.ch.Poller.poll} does; 0 nanoseconds without limit. Takes what the descriptor has. */
    private static long await(int fd, long nanos) {
        for (;;) {
            long n = EventFd.take(fd);
            if (n > 0) {
                return n;
            }
            register(fd, false);
            if (nanos == 0) {
                LockSupport.park();
            } else {
                LockSupport.parkNanos(nanos);
            }
            assertTrue(WAITS.deregister(fd, false));
            if (nanos != 0) {
                return EventFd.take(fd);
            }
        }
    }

    private static void add(int fd) {
        assertEquals(0, EventFd.add(fd, 1));
    }

    private static int waiters(TestGmp gmp) {
        return Schedt.netpollWaitersVolatile(gmp.scheduler().sched);
    }

    private static void awaitWaiters(TestGmp gmp, int n) {
        while (waiters(gmp) != n) {
            Thread.onSpinWait();
        }
    }

    /**
     * What is ready when a time slice ends runs next, and not behind all that had theirs. Sysmon, which polls when no M has for long, is
     * made to believe that one did. A thread that gets no CPU for long makes this one late to see how many slices there were; so not
     * each time has to be so.
     */
    @Stress
    void besideHogs() throws InterruptedException {
        int hogs = 16;
        int fd = EventFd.create();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(2)))) {
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger running = new AtomicInteger(-1);
            AtomicInteger slices = new AtomicInteger();
            AtomicInteger seen = new AtomicInteger();
            Semaphore woken = new Semaphore(0);
            gmp.go(() -> {
                for (int i = 0; i < 10; i++) {
                    await(fd, 0);
                    seen.set(slices.get());
                    woken.release();
                }
                over.set(true);
            });
            awaitWaiters(gmp, 1);
            long sched = gmp.scheduler().sched; // It asks a goroutine.
            for (int i = 0; i < hogs; i++) {
                int me = i;
                gmp.go(() -> {
                    while (!over.get()) {
                        if (running.get() != me) {
                            running.set(me);
                            slices.incrementAndGet();
                        }
                        GStack.exit(GStack.enterChecked()); // Yields when it was told to.
                    }
                });
            }
            int next = 0;
            for (int i = 0; i < 10; i++) {
                awaitWaiters(gmp, 1);
                int waits = slices.get(); // The reader is about to park: what comes now its M finds at once.
                while (slices.get() < Math.max(hogs, waits + 2)) {
                    Thread.onSpinWait();
                }
                add(fd);
                int at = slices.get();
                while (!woken.tryAcquire() && slices.get() - at < 2 * hogs) {
                    polled(sched);
                }
                if (slices.get() - at >= 2 * hogs) {
                    woken.acquire(); // Sysmon may poll.
                }
                next += seen.get() - at < hogs / 2 ? 1 : 0;
            }
            assertTrue(next >= 5, "behind all hogs");
        }
        Fd.close(fd);
    }

    /** As if an M had just polled, unless one sleeps in the poller. Ms themselves poll again sooner than these calls. */
    private static void polled(long sched) {
        long last = Schedt.lastpollVolatile(sched);
        long now = System.nanoTime();
        boolean _ = last != 0 && now - last > 500_000 && Schedt.casLastpoll(sched, last, now);
    }

    /** Beside a goroutine that does not yield it is sysmon that polls; and what it finds runs before all that wait already. */
    @Test
    void sysmonsFindsComeFirst() throws InterruptedException {
        int waiting = 5;
        int[] fds = {EventFd.create(), EventFd.create(), EventFd.create()};
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofSeconds(10)))) {
            AtomicBoolean over = new AtomicBoolean();
            List<String> order = Collections.synchronizedList(new ArrayList<>());
            CountDownLatch done = new CountDownLatch(fds.length + waiting);
            for (int fd : fds) {
                gmp.go(() -> {
                    await(fd, 0);
                    order.add("ready " + fd);
                    done.countDown();
                });
            }
            awaitWaiters(gmp, fds.length);
            long sched = gmp.scheduler().sched; // It asks a goroutine.
            CountDownLatch running = new CountDownLatch(1);
            gmp.go(() -> {
                GStack st = GStack.enter(); // Or sysmon takes its P when the thread waits for a collection, say.
                running.countDown();
                while (!over.get()) {
                    Thread.onSpinWait();
                }
                for (long end = System.nanoTime() + 200_000; System.nanoTime() < end;) {
                    Thread.onSpinWait(); // Then an M would poll again.
                }
                add(fds[2]);
                GStack.exit(st);
            });
            running.await();
            for (int i = 0; i < waiting; i++) {
                gmp.go(() -> {
                    order.add("waited");
                    done.countDown();
                });
            }
            for (int i = 0; i < 2; i++) {
                add(fds[i]);
                while (Schedt.runqsizeOpaque(sched) <= waiting + i) { // Those, and what sysmon found.
                    Thread.onSpinWait();
                }
            }
            over.set(true);
            done.await();
            assertEquals(List.of("ready " + fds[0], "ready " + fds[1]), order.subList(0, 2));
        }
        for (int fd : fds) {
            Fd.close(fd);
        }
    }

    /** Ready before the registration, between it and the park, and long after: each wait ends, and is counted no more. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void readyAtAnyMoment(int procs) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            int fd = EventFd.create();
            gmp.run(() -> {
                for (int i = 0; i < 200; i++) {
                    add(fd);
                    register(fd, false);
                    LockSupport.park();
                    assertTrue(WAITS.deregister(fd, false));
                    assertEquals(1, EventFd.take(fd));
                    register(fd, false);
                    add(fd);
                    LockSupport.park();
                    assertTrue(WAITS.deregister(fd, false));
                    assertEquals(1, EventFd.take(fd));
                }
            });
            for (int i = 0; i < 100; i++) {
                Thread later = Thread.ofPlatform().start(() -> {
                    awaitWaiters(gmp, 1);
                    add(fd);
                });
                assertEquals(1, gmp.call(() -> await(fd, 0)));
                join(later);
            }
            assertEquals(0, waiters(gmp));
            gmp.check();
            Fd.close(fd);
        }
    }

    /** Two goroutines hand a token on by two descriptors: thousands of waits, none lost. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void tokens(int procs) {
        int rounds = 3_000;
        try (TestGmp gmp = TestGmp.procs(procs)) {
            int there = EventFd.create();
            int back = EventFd.create();
            gmp.go(() -> {
                for (int i = 0; i < rounds; i++) {
                    long _ = await(there, 0);
                    add(back);
                }
            });
            gmp.run(() -> {
                for (int i = 0; i < rounds; i++) {
                    add(there);
                    assertEquals(1, await(back, 0));
                }
            });
            assertEquals(0, waiters(gmp));
            Fd.close(there);
            Fd.close(back);
        }
    }

    /** A reader and a writer wait for one descriptor at once, and each is woken for its own. */
    @Test
    void twoDirections() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            int fd = EventFd.create();
            assertEquals(0, EventFd.add(fd, -2)); // As much as it holds: not writable until somebody takes it.
            WaitGroup wg = new WaitGroup();
            AtomicInteger wrote = new AtomicInteger();
            gmp.run(() -> {
                wg.go(() -> {
                    register(fd, true);
                    LockSupport.park();
                    assertTrue(WAITS.deregister(fd, true));
                    wrote.set(EventFd.add(fd, 1));
                });
                while (waiters(gmp) != 1) {
                    Thread.yield();
                }
                register(fd, false);
                LockSupport.park();
                assertTrue(WAITS.deregister(fd, false));
                assertEquals(-2, EventFd.take(fd)); // Now it is writable.
                wg.await();
                assertEquals(0, wrote.get());
                for (int i = 0; i < 100; i++) { // Both wait at the same time; the writer's readiness does not wake the reader.
                    long _ = EventFd.take(fd);
                    CountDownLatch reader = new CountDownLatch(1);
                    wg.go(() -> {
                        register(fd, false);
                        reader.countDown();
                        LockSupport.park();
                        assertTrue(WAITS.deregister(fd, false));
                        assertEquals(1, EventFd.take(fd));
                    });
                    try {
                        reader.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    register(fd, true);
                    LockSupport.park();
                    assertTrue(WAITS.deregister(fd, true));
                    assertEquals(1, waiters(gmp));
                    add(fd);
                    wg.await();
                }
            });
            Fd.close(fd);
        }
    }

    /** A time-out and an event at about the same moment: the event is never lost, and never reported to the next wait. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void timeoutAgainstReady(int procs) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            int fd = EventFd.create();
            int idle = EventFd.create();
            int rounds = 500;
            AtomicInteger turn = new AtomicInteger();
            Thread writer = Thread.ofPlatform().start(() -> {
                for (int i = 1; i <= rounds; i++) {
                    while (turn.get() < i) {
                        Thread.onSpinWait();
                    }
                    for (long end = System.nanoTime() + ThreadLocalRandom.current().nextInt(200_000);
                            System.nanoTime() < end;) {
                        Thread.onSpinWait();
                    }
                    add(fd);
                }
            });
            gmp.run(() -> {
                long got = 0;
                for (int i = 1; i <= rounds; i++) {
                    turn.set(i);
                    got += Math.max(0, await(fd, 1 + ThreadLocalRandom.current().nextInt(200_000)));
                    assertTrue(await(idle, 1) <= 0);
                }
                while (got < rounds) {
                    got += await(fd, 0);
                }
                assertEquals(rounds, got);
            });
            join(writer);
            assertEquals(0, waiters(gmp));
            Fd.close(fd);
            Fd.close(idle);
        }
    }

    /**
     * The event of a registration that is over: its file is still open elsewhere, armed, under a number that means another
     * file here. It does not wake whoever waits for that one.
     */
    @Test
    void aStaleEvent() throws Throwable {
        MethodHandle dup = call("dup", 1);
        MethodHandle dup2 = call("dup2", 2);
        try (TestGmp gmp = TestGmp.procs(1)) {
            for (int i = 0; i < 20; i++) {
                int fd = EventFd.create();
                int elsewhere = (int) dup.invokeExact(fd);
                int other = EventFd.create();
                int next = EventFd.create();
                CountDownLatch registered = new CountDownLatch(1);
                AtomicInteger woken = new AtomicInteger();
                Thread first = gmp.call(() -> Thread.ofVirtual().start(() -> {
                    register(fd, false);
                    registered.countDown();
                    LockSupport.park();
                    assertTrue(WAITS.deregister(fd, false));
                }));
                registered.await();
                assertEquals(fd, (int) dup2.invokeExact(other, fd)); // As the JDK does before it closes.
                LockSupport.unpark(first);
                first.join();
                assertEquals(0, waiters(gmp));
                Thread second = gmp.call(() -> Thread.ofVirtual().start(() -> {
                    register(fd, false);
                    LockSupport.park();
                    woken.incrementAndGet();
                    assertTrue(WAITS.deregister(fd, false));
                }));
                awaitWaiters(gmp, 1);
                Thread third = gmp.call(() -> Thread.ofVirtual().start(() -> {
                    long _ = await(next, 0);
                }));
                awaitWaiters(gmp, 2);
                add(elsewhere);
                add(next); // Reported after the stale one.
                third.join();
                assertEquals(0, woken.get());
                assertEquals(1, waiters(gmp));
                add(other);
                second.join();
                for (int d : new int[] {fd, elsewhere, other, next}) {
                    Fd.close(d);
                }
            }
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle call(String name, int ints) {
        ValueLayout[] args = new ValueLayout[ints];
        java.util.Arrays.fill(args, ValueLayout.JAVA_INT);
        return Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, args));
    }

    /** While an M sleeps in epoll for as long as it takes, timers are set by others: the sleep ends for each. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void timersBreakTheSleep(int procs) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            int fd = EventFd.create();
            gmp.go(() -> {
                long _ = await(fd, 0);
            });
            awaitWaiters(gmp, 1);
            for (int i = 0; i < 20; i++) {
                while (Schedt.lastpollVolatile(gmp.scheduler().sched) != 0) { // It sleeps, or is about to.
                    Thread.onSpinWait();
                }
                gmp.run(() -> org.gmp4j.Go.sleep(java.time.Duration.ofMillis(1)));
            }
            add(fd);
        }
    }

    /** A goroutine that never yields has the only P: sysmon finds what is ready. */
    @Test
    void sysmonPolls() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            int fd = EventFd.create();
            CountDownLatch woken = new CountDownLatch(1);
            gmp.go(() -> {
                long _ = await(fd, 0);
                woken.countDown();
            });
            awaitWaiters(gmp, 1);
            gmp.run(() -> {
                add(fd);
                while (woken.getCount() != 0) {
                    Thread.onSpinWait();
                }
            });
            Fd.close(fd);
        }
    }

    /** What is pinned waits on its M, and is woken there. */
    @Test
    void pinned() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            int fd = EventFd.create();
            gmp.go(() -> {
                awaitWaiters(gmp, 1);
                add(fd);
            });
            gmp.run(() -> {
                org.gmp4j.stack.JdkThreads.pin();
                try {
                    assertEquals(1, await(fd, 0));
                } finally {
                    org.gmp4j.stack.JdkThreads.unpin();
                }
            });
            Fd.close(fd);
        }
    }

    /** Errors go to the caller: a file that epoll does not take, a descriptor that is none. */
    @Test
    void errors() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            assertEquals("epoll_ctl failed: 9", gmp.call(() -> {
                try {
                    boolean _ = WAITS.register(1_000_000, false);
                    return "registered";
                } catch (IOException e) {
                    return e.getMessage();
                }
            }));
            assertEquals(0, waiters(gmp));
            assertFalse(gmp.call(() -> WAITS.deregister(1_000_000, false)));
            assertFalse(WAITS.deregister(0, false)); // No goroutine.
        }
    }

    /** Schedulers come and go: each gives its descriptors back. */
    @Test
    void closingGivesAllBack() {
        for (int i = 0; i < 3; i++) {
            open();
        }
        int before = java.util.Objects.requireNonNull(new java.io.File("/proc/self/fd").list()).length;
        for (int i = 0; i < 20; i++) {
            open();
        }
        int after = java.util.Objects.requireNonNull(new java.io.File("/proc/self/fd").list()).length;
        assertTrue(after < before + 20, () -> "from " + before + " to " + after);
    }

    private static void open() {
        int fd = EventFd.create();
        try (TestGmp gmp = TestGmp.procs(1)) {
            add(fd);
            gmp.run(() -> {
                register(fd, false);
                assertTrue(WAITS.deregister(fd, false));
            });
            Scheduler s = gmp.scheduler();
            assertFalse(s.netpoll().anyWaiters(s));
        }
        Fd.close(fd);
    }

    private static void join(Thread t) {
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
