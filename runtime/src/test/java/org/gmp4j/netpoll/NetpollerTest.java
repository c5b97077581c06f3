// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.gmp4j.netpoll.EventWaits.WAITS;
import static org.gmp4j.netpoll.EventWaits.add;
import static org.gmp4j.netpoll.EventWaits.await;
import static org.gmp4j.netpoll.EventWaits.awaitWaiters;
import static org.gmp4j.netpoll.EventWaits.register;
import static org.gmp4j.netpoll.EventWaits.waiters;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The network poller itself, on event descriptors that goroutines wait for as the JDK's sockets do. */
class NetpollerTest {
    /** Ready before the registration, between it and the park, and long after: each wait ends, and is counted no more. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void readyAtAnyMoment(int procs) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            int fd = EventFd.create();
            int other = EventFd.create();
            gmp.go(() -> {
                long _ = await(other, 0);
            });
            while (Schedt.LASTPOLL.getVolatile(gmp.scheduler().sched) != 0) {
                Thread.onSpinWait();
            }
            gmp.run(() -> { // Beside an M that sleeps in the poller.
                for (int i = 0; i < 200; i++) {
                    add(fd);
                    register(fd, false);
                    for (long end = System.nanoTime() + 1_000_000; waiters(gmp) != 1 && System.nanoTime() < end;) {
                        Thread.onSpinWait(); // Where another P is idle, that M finds the event before the park.
                    }
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
                    awaitWaiters(gmp, 2);
                    add(fd);
                });
                assertEquals(1, gmp.call(() -> await(fd, 0)));
                join(later);
            }
            assertEquals(1, waiters(gmp));
            gmp.check();
            add(other);
            awaitWaiters(gmp, 0);
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
            assertEquals(0, EventFd.add(fd, -2)); // As much as it holds: not writable until it is read.
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
