// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What blocks a thread in the JDK parks a goroutine, and what the JDK knows of a thread is right in a goroutine. */
class JdkInteropTest {
    /** The current thread is the same object all along, through every kind of switch; locks and thread-locals follow it. */
    @Stress
    void identityAcrossMigrations() {
        ThreadLocal<Integer> local = new ThreadLocal<>();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(3).quantum(Duration.ofMillis(1)))) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                Chan<Integer> c = Chan.make();
                for (int i = 0; i < 30; i++) {
                    int id = i;
                    ReentrantLock own = new ReentrantLock();
                    wg.go(() -> {
                        Thread me = Thread.currentThread();
                        local.set(id);
                        own.lock();
                        synchronized (own) {
                            for (int k = 0; k < 100; k++) {
                                switch (k % 5) {
                                    case 0 -> Go.gosched();
                                    case 1 -> Thread.yield();
                                    case 2 -> Go.sleep(Duration.ofNanos(1_000));
                                    case 3 -> LockSupport.parkNanos(1_000);
                                    default -> {
                                        if (id % 2 == 0) {
                                            c.send(k);
                                        } else {
                                            c.recv();
                                        }
                                    }
                                }
                                assertSame(me, Thread.currentThread());
                                assertEquals(id, local.get());
                                assertTrue(own.isHeldByCurrentThread());
                                assertTrue(Thread.holdsLock(own));
                            }
                        }
                        own.unlock();
                    });
                }
                wg.await();
            });
        }
    }

    /** A pooled stack forgets its goroutine: thread-locals, interrupt, permit, name, class loader. */
    @Test
    void theNextGoroutineStartsClean() {
        ThreadLocal<String> local = new ThreadLocal<>();
        InheritableThreadLocal<String> inheritable = new InheritableThreadLocal<>();
        try (TestGmp gmp = TestGmp.procs(1)) {
            Thread first = gmp.call(() -> {
                Thread me = Thread.currentThread();
                local.set("leak");
                inheritable.set("leak");
                me.interrupt();
                LockSupport.unpark(me);
                me.setName("leak");
                me.setContextClassLoader(null);
                return me;
            });
            gmp.run(() -> {
                Thread me = Thread.currentThread();
                assertSame(first, me, "on the same stack, or this shows nothing");
                assertNull(local.get());
                assertNull(inheritable.get());
                assertFalse(Thread.interrupted());
                assertSame(ClassLoader.getSystemClassLoader(), me.getContextClassLoader());
                assertNotEquals("leak", me.getName());
                boolean[] other = new boolean[1];
                Go.go(() -> {
                    other[0] = true;
                    LockSupport.unpark(me);
                });
                LockSupport.park();
                assertTrue(other[0], "a permit was left");
            });
        }
    }

    private interface Waits {
        void await() throws Exception;
    }

    /** Waits in the JDK park the goroutine alone: on one P the one that ends the wait can run. */
    @Test
    void waitsInTheJdk() {
        LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
        SynchronousQueue<Integer> handOver = new SynchronousQueue<>();
        CountDownLatch latch = new CountDownLatch(1);
        CyclicBarrier barrier = new CyclicBarrier(2);
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        Object monitor = new Object();
        boolean[] flag = new boolean[2];
        List<Waits[]> pairs = List.of(
                new Waits[] {queue::take, () -> queue.put(1)},
                new Waits[] {handOver::take, () -> handOver.put(1)},
                new Waits[] {latch::await, latch::countDown},
                new Waits[] {barrier::await, barrier::await},
                new Waits[] {() -> {
                    lock.lock();
                    while (!flag[0]) {
                        condition.await();
                    }
                    lock.unlock();
                }, () -> {
                    lock.lock();
                    flag[0] = true;
                    condition.signal();
                    lock.unlock();
                }},
                new Waits[] {() -> {
                    synchronized (monitor) {
                        while (!flag[1]) {
                            monitor.wait();
                        }
                    }
                }, () -> {
                    synchronized (monitor) {
                        flag[1] = true;
                        monitor.notifyAll();
                    }
                }},
                new Waits[] {() -> Thread.sleep(5), Thread::yield});
        try (TestGmp gmp = TestGmp.procs(1)) {
            for (Waits[] pair : pairs) {
                AtomicInteger done = new AtomicInteger();
                gmp.go(() -> finish(pair[0], done));
                gmp.go(() -> finish(pair[1], done));
                gmp.run(() -> {
                    while (done.get() < 2) {
                        Go.gosched();
                    }
                });
            }
        }
    }

    private static void finish(Waits wait, AtomicInteger done) {
        try {
            wait.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        done.incrementAndGet();
    }

    /** Mutual exclusion by JDK locks and monitors, with yields of every kind inside. */
    @Stress
    void locksExclude() {
        try (TestGmp gmp = TestGmp.procs(3)) {
            ReentrantLock lock = new ReentrantLock();
            Object monitor = new Object();
            long[] count = new long[2];
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 20; i++) {
                    int id = i;
                    wg.go(() -> {
                        for (int k = 0; k < 500; k++) {
                            lock.lock();
                            long seen = count[0];
                            if ((k + id) % 7 == 0) {
                                Go.gosched();
                            }
                            count[0] = seen + 1;
                            lock.unlock();
                            synchronized (monitor) {
                                seen = count[1];
                                if ((k + id) % 11 == 0) {
                                    Thread.yield();
                                }
                                count[1] = seen + 1;
                            }
                        }
                    });
                }
                wg.await();
            });
            assertEquals(10_000, count[0]);
            assertEquals(10_000, count[1]);
        }
    }

    /** {@code unpark} does not wake a goroutine that waits on a channel, and the permit is there when it parks itself. */
    @Test
    void unparkOfARuntimePark() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                Thread[] waiter = new Thread[1];
                int[] got = new int[1];
                Go.go(() -> {
                    waiter[0] = Thread.currentThread();
                    got[0] = c.recv();
                    LockSupport.park(); // Returns at once: no thread unparks it a second time.
                    got[0]++;
                });
                TestGmp.awaitOthers();
                LockSupport.unpark(waiter[0]);
                TestGmp.awaitOthers();
                assertEquals(0, got[0]);
                c.send(7);
                while (got[0] != 8) {
                    Go.gosched();
                }
            });
        }
    }

    /** An interrupt leaves a wait of ours alone and shows in the thread's status afterwards. */
    @Test
    void interruptOfARuntimePark() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                Thread[] waiter = new Thread[1];
                int[] got = new int[1];
                Go.go(() -> {
                    waiter[0] = Thread.currentThread();
                    got[0] = c.recv();
                    assertTrue(Thread.interrupted());
                    Go.sleep(Duration.ofMillis(1));
                    got[0]++;
                });
                TestGmp.awaitOthers();
                waiter[0].interrupt();
                waiter[0].getStackTrace();
                waiter[0].interrupt();
                TestGmp.awaitOthers();
                assertEquals(0, got[0]);
                c.send(7);
                while (got[0] != 8) {
                    Go.gosched();
                }
            });
        }
    }

    /**
     * Storms of unpark, interrupt and stack dumps on goroutines that wait on channels, sleep, park and come back from the
     * pool as others: each of their waits ends once and for the right reason.
     */
    @Stress
    void storms() throws InterruptedException {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        try (TestGmp gmp = TestGmp.procs(2)) {
            org.gmp4j.testing.Threads storm = new org.gmp4j.testing.Threads()
                    .add("unparker", () -> forEach(stop, threads, LockSupport::unpark))
                    .add("interrupter", () -> forEach(stop, threads, Thread::interrupt))
                    .add("dumper", () -> forEach(stop, threads, t -> assertTrue(t.getStackTrace().length >= 0)))
                    .add("states", () -> forEach(stop, threads, t -> assertTrue(t.getState() != null && t.isAlive())))
                    .start();
            gmp.run(() -> {
                for (int i = 0; i < 500; i++) {
                    WaitGroup wg = new WaitGroup();
                    Chan<Integer> c = Chan.make();
                    AtomicInteger sum = new AtomicInteger();
                    for (int k = 0; k < 10; k++) {
                        int v = k;
                        wg.go(() -> {
                            threads.add(Thread.currentThread());
                            sum.addAndGet(c.recv());
                            LockSupport.parkNanos(10_000);
                            Thread.yield();
                        });
                        wg.go(() -> {
                            threads.add(Thread.currentThread());
                            Go.gosched();
                            c.send(v);
                            try {
                                Thread.sleep(0, 1_000);
                            } catch (InterruptedException expected) {
                                sum.addAndGet(0);
                            }
                        });
                    }
                    wg.await();
                    assertEquals(45, sum.get());
                    rounds.incrementAndGet();
                }
            });
            stop.set(true);
            storm.join();
            gmp.check();
        }
        assertEquals(500, rounds.get());
    }

    private static void forEach(AtomicBoolean stop, Set<Thread> threads,
            java.util.function.Consumer<Thread> action) {
        while (!stop.get()) {
            threads.forEach(action);
        }
    }

    /** Dumps of all kinds while everything runs; what they show of a parked goroutine is where it waits. */
    @Test
    void dumpsShowWhereGoroutinesWait() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            AtomicBoolean end = new AtomicBoolean();
            gmp.go(c::recv);
            gmp.go(() -> {
                while (!end.get()) {
                    Go.sleep(Duration.ofMillis(100));
                }
            });
            String dump = gmp.gmp.dump();
            while (!dump.contains("[sleep]:") || !dump.contains("[chan receive]:")) {
                Thread.onSpinWait(); // Until both have parked.
                dump = gmp.gmp.dump();
            }
            assertTrue(dump.contains("goroutine 1 [chan receive]:\n\torg.gmp4j.Chan.recv"), dump);
            assertTrue(dump.contains("[sleep]:"), dump);
            assertFalse(dump.contains("Continuation"), dump);
            end.set(true);
            c.close();
        }
    }

    /** Sockets of the JDK; afterwards the scheduler closes: the JDK's own threads are not its goroutines. */
    @Test
    void sockets() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            try (TestGmp gmp = TestGmp.procs(1)) {
                gmp.run(() -> {
                    WaitGroup wg = new WaitGroup();
                    wg.go(() -> {
                        try (Socket s = server.accept()) {
                            for (int b = s.getInputStream().read(); b >= 0; b = s.getInputStream().read()) {
                                s.getOutputStream().write(b + 1);
                            }
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    });
                    try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
                        for (int i = 0; i < 100; i++) {
                            s.getOutputStream().write(i);
                            assertEquals(i + 1, s.getInputStream().read());
                        }
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                    wg.await();
                });
            }
        }
    }

    /** A virtual thread started in a goroutine, or by the scheduler's factory, is a goroutine with an identity of its own. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void virtualThreads(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(() -> {
                AtomicInteger ran = new AtomicInteger();
                Set<Thread> seen = ConcurrentHashMap.newKeySet();
                for (int i = 0; i < 50; i++) {
                    Thread t = Thread.ofVirtual().name("mine").start(() -> {
                        assertTrue(Go.inGoroutine());
                        assertEquals("mine", Thread.currentThread().getName());
                        Go.gosched();
                        Thread.yield();
                        seen.add(Thread.currentThread());
                        ran.incrementAndGet();
                    });
                    if (i % 2 == 0) {
                        try {
                            t.join();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                        assertEquals(Thread.State.TERMINATED, t.getState());
                    }
                }
                while (ran.get() < 50) {
                    Go.gosched();
                }
                assertEquals(50, seen.size());
            });
            try (ExecutorService pool = gmp.gmp.newThreadPerTaskExecutor()) {
                assertEquals(7, pool.submit(() -> Go.inGoroutine() ? 7 : 0).get());
                Thread a = pool.submit(Thread::currentThread).get();
                assertNotSame(a, pool.submit(Thread::currentThread).get());
            }
        }
    }

    /** Virtual threads of the JDK's scheduler, more than it has carriers, wait for each other on our channels. */
    @Stress
    void theJdksVirtualThreadsOnOurChannels() throws InterruptedException {
        int n = 100;
        Chan<Integer> c = Chan.make();
        Chan<Integer> back = Chan.make();
        List<Thread> receivers = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            receivers.add(Thread.startVirtualThread(() -> {
                back.send(c.recv() + 1);
                assertFalse(Thread.currentThread().isInterrupted());
            }));
        }
        Thread interrupted = Thread.startVirtualThread(() -> {
            Thread.currentThread().interrupt();
            back.send(c.recv() + 1);
            back.send(Thread.currentThread().isInterrupted() ? 1 : 0);
        });
        Thread sender = Thread.startVirtualThread(() -> {
            for (int i = 0; i <= n; i++) {
                c.send(i);
            }
        });
        int sum = 0;
        for (int i = 0; i < n + 2; i++) {
            sum += back.recv();
        }
        assertEquals((n + 1) * (n + 2) / 2 + 1, sum);
        for (Thread t : receivers) {
            t.join();
        }
        interrupted.join();
        sender.join();
    }
}
