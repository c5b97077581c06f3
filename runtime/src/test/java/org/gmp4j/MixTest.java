// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.check.Invariants;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;

/**
 * Everything a goroutine can do, at random, while the scheduler is resized, dumped and checked: results are right, nothing
 * hangs, no invariant is ever broken.
 */
@Tag("ring")
class MixTest {
    private static final int GOROUTINES = Stress.REPEAT > 1 ? 1_500 : 500;
    private static final int STEPS = 20;

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final ReentrantLock lock = new ReentrantLock();
    private final Object monitor = new Object();
    private final AtomicLong locked = new AtomicLong();
    private final AtomicLong synced = new AtomicLong();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong leaves = new AtomicLong();
    private long inLock;
    private long inMonitor;

    @Stress
    void inParallel() throws InterruptedException {
        mix(SpinPolicy.go(), Duration.ofMillis(10));
    }

    @Stress
    void spinning() throws InterruptedException {
        mix(SpinPolicy.latency(Duration.ofNanos(50_000)), Duration.ofMillis(10));
    }

    /** Preempted as often as can be. */
    @Stress
    void shortQuantum() throws InterruptedException {
        mix(SpinPolicy.go(), Duration.ofNanos(200_000));
    }

    private void mix(SpinPolicy spin, Duration quantum) throws InterruptedException {
        Random random = new Random();
        Chan<Integer> c = Chan.make(random.nextInt(3));
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1 + random.nextInt(4)).spin(spin).quantum(quantum))) {
            Threads others = others(gmp, c).start();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < GOROUTINES; i++) {
                    int id = i;
                    wg.go(() -> live(id, c));
                }
                wg.await();
            });
            stop.set(true);
            others.join();
            gmp.check();
        }
        assertEquals(locked.get(), inLock);
        assertEquals(synced.get(), inMonitor);
        assertEquals((long) GOROUTINES * (GOROUTINES - 1) / 2, received.get());
        assertEquals(8L * GOROUTINES, leaves.get());
    }

    private Threads others(TestGmp gmp, Chan<Integer> c) {
        Scheduler s = gmp.scheduler();
        return new Threads().add("sender", () -> {
            for (int i = 0; i < GOROUTINES; i++) {
                c.send(i);
            }
        }).add("stormer", () -> {
            while (!stop.get()) {
                for (Thread t : threads) {
                    LockSupport.unpark(t);
                    if (ThreadLocalRandom.current().nextInt(10) == 0) {
                        t.interrupt();
                    }
                }
                Thread.sleep(1);
            }
        }).add("dumper", () -> {
            while (!stop.get()) {
                assertTrue(gmp.gmp.dump() != null);
                threads.forEach(t -> assertTrue(t.getStackTrace() != null));
                assertTrue(!Thread.getAllStackTraces().isEmpty());
                Thread.sleep(5);
            }
        }).add("resizer", () -> {
            while (!stop.get()) {
                gmp.gmp.setProcs(1 + ThreadLocalRandom.current().nextInt(6));
                Thread.sleep(2);
            }
        }).add("checker", () -> {
            while (!stop.get()) {
                assertEquals(List.of(), Invariants.sample(s));
                StopTheWorld.withWorldStopped(s, () -> assertEquals(List.of(), Invariants.check(s)));
                Thread.sleep(2);
            }
        });
    }

    private void live(int id, Chan<Integer> c) {
        Thread me = Thread.currentThread();
        threads.add(me);
        AtomicInteger mine = new AtomicInteger();
        for (int k = 0; k < STEPS; k++) {
            step(id + k);
            assertSame(me, Thread.currentThread());
        }
        WaitGroup wg = new WaitGroup();
        tree(3, wg, mine);
        received.addAndGet(c.recv());
        wg.await();
        leaves.addAndGet(mine.get());
        threads.remove(me);
    }

    private static void tree(int depth, WaitGroup wg, AtomicInteger leaves) {
        if (depth == 0) {
            leaves.incrementAndGet();
            return;
        }
        wg.go(() -> tree(depth - 1, wg, leaves));
        wg.go(() -> tree(depth - 1, wg, leaves));
    }

    private void step(int k) {
        try {
            switch (k % 13) {
                case 0 -> Go.gosched();
                case 1 -> {
                    lock.lock();
                    try {
                        locked.incrementAndGet();
                        inLock++;
                        Go.gosched();
                        assertTrue(lock.isHeldByCurrentThread());
                    } finally {
                        lock.unlock();
                    }
                }
                case 2 -> {
                    synchronized (monitor) {
                        synced.incrementAndGet();
                        inMonitor++;
                        Thread.yield();
                        assertTrue(Thread.holdsLock(monitor));
                    }
                }
                case 3 -> Thread.yield();
                case 4 -> Go.sleep(Duration.ofNanos(1_000L * (k % 50)));
                case 5 -> LockSupport.parkNanos(20_000);
                case 6 -> Thread.sleep(0, 50_000);
                case 7 -> {
                    synchronized (monitor) {
                        monitor.wait(1);
                    }
                }
                case 8 -> {
                    int _ = Go.blocking(() -> 1);
                }
                case 9 -> {
                    synchronized (monitor) {
                        monitor.notifyAll();
                    }
                }
                case 10 -> {
                    Go.lockOSThread();
                    try {
                        int tid = OsThread.gettid();
                        Go.gosched();
                        assertEquals(tid, OsThread.gettid());
                    } finally {
                        Go.unlockOSThread();
                    }
                }
                case 11 -> {
                    int _ = Go.blocking(() -> {
                        LockSupport.parkNanos(20_000); // Ends the system call: the JDK takes the goroutine off its thread.
                        return 1;
                    });
                }
                default -> spin(20_000 * (k % 3));
            }
        } catch (InterruptedException expected) {
            return;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void spin(int n) {
        for (int i = 0; i < n; i++) {
            Thread.onSpinWait();
        }
    }
}
