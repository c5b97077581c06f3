// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("ring")
class MutexTest {
    private static final int PS = 8;
    private int plain;

    @Stress
    void exclusion() {
        for (int procs : new int[] {1, 2, PS}) {
            plain = 0;
            int turns = 4_000;
            Mutex m = new Mutex();
            AtomicInteger tried = new AtomicInteger();
            try (TestGmp gmp = TestGmp.procs(procs)) {
                Crew.run(gmp, 8, 2, 4, id -> {
                    for (int i = 0; i < turns; i++) {
                        if ((i + id) % 16 == 0) {
                            if (!m.tryLock()) {
                                continue;
                            }
                        } else {
                            m.lock();
                        }
                        plain++;
                        tried.incrementAndGet();
                        if (i % 64 == 0) {
                            Thread.yield();
                        }
                        m.unlock();
                    }
                });
            }
            assertEquals(tried.get(), plain);
            assertTrue(plain >= 14 * turns * 15 / 16);
            assertTrue(m.tryLock(), "left locked");
        }
    }

    /**
     * Go: {@code TestMutexFairness}: one goroutine takes the lock again as soon as it has given it back, and sleeps with it;
     * another gets it nevertheless. On one P the first is always faster, as it is not preempted: only the hand-over of
     * starvation mode lets the other in.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void mutexFairness(int procs) {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(procs).quantum(Duration.ofMinutes(1)))) {
            Mutex m = new Mutex();
            AtomicBoolean stop = new AtomicBoolean();
            AtomicInteger got = new AtomicInteger();
            AtomicInteger rounds = new AtomicInteger();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                wg.go(() -> {
                    while (!stop.get() && rounds.incrementAndGet() < 5_000) {
                        m.lock();
                        Go.sleep(Duration.ofNanos(100_000));
                        m.unlock();
                    }
                });
                wg.go(() -> {
                    for (int i = 0; i < 10; i++) {
                        Go.sleep(Duration.ofNanos(100_000));
                        m.lock();
                        m.unlock();
                        got.incrementAndGet();
                    }
                    stop.set(true);
                });
                wg.await();
            });
            assertEquals(10, got.get());
            assertTrue(rounds.get() < 5_000, "starved");
        }
    }

    /** Waiters get the lock in the order they came, though they lose it to a newcomer again and again. */
    @Test
    void firstInFirstOut() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            List<Integer> order = new ArrayList<>();
            gmp.run(() -> {
                Mutex m = new Mutex();
                WaitGroup wg = new WaitGroup();
                m.lock();
                for (int i = 0; i < 10; i++) {
                    int id = i;
                    wg.go(() -> {
                        m.lock();
                        order.add(id);
                        m.unlock();
                    });
                    TestGmp.awaitOthers(); // It waits.
                }
                for (int i = 0; i < 20_000 && order.size() < 10; i++) {
                    Go.sleep(Duration.ofNanos(100_000));
                    m.unlock();
                    m.lock(); // Before the woken one runs, unless the lock was handed to it.
                }
                m.unlock();
                wg.await();
            });
            assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), order);
        }
    }

    /** The last waiter turns starvation mode off: afterwards the lock is taken as it comes. */
    @Test
    void starvationEnds() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Mutex m = new Mutex();
                WaitGroup wg = new WaitGroup();
                AtomicInteger rounds = new AtomicInteger();
                m.lock();
                wg.go(() -> {
                    m.lock();
                    rounds.set(Integer.MAX_VALUE);
                    m.unlock();
                });
                while (rounds.get() != Integer.MAX_VALUE && rounds.incrementAndGet() < 20_000) {
                    Go.sleep(Duration.ofNanos(100_000));
                    m.unlock();
                    m.lock();
                }
                assertEquals(Integer.MAX_VALUE, rounds.get(), "starved");
                m.unlock();
                wg.await();
                assertTrue(m.tryLock());
            });
        }
    }

    /** A waiter that has waited for long and finds the lock free takes it like any other, without a hand-off. */
    @Test
    void freeAfterALongWait() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Mutex m = new Mutex();
                WaitGroup wg = new WaitGroup();
                m.lock();
                wg.go(() -> {
                    m.lock();
                    m.unlock();
                });
                TestGmp.awaitOthers();
                Go.sleep(Duration.ofMillis(3)); // Longer than makes a waiter starve.
                m.unlock();
                wg.await();
                assertTrue(m.tryLock());
            });
        }
    }

    /** Any goroutine or thread may unlock. */
    @Stress
    void noOwner() throws InterruptedException {
        Mutex m = new Mutex();
        Mutex answer = new Mutex();
        answer.lock();
        try (TestGmp gmp = TestGmp.procs(2)) {
            Threads unlocker = new Threads().add("unlocker", () -> {
                for (int i = 0; i < 1_000; i++) {
                    answer.lock(); // Given back by the goroutine.
                    m.unlock(); // Taken by it.
                }
            }).start();
            gmp.run(() -> {
                for (int i = 0; i < 1_000; i++) {
                    m.lock();
                    answer.unlock();
                }
                m.lock();
                Go.go(m::unlock);
                m.lock();
            });
            unlocker.join();
        }
    }

    /** A goroutine that holds the lock runs on another thread afterwards. */
    @Stress
    void heldAcrossMigrations() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Mutex m = new Mutex();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int g = 0; g < 8; g++) {
                    wg.go(() -> {
                        for (int i = 0; i < 500; i++) {
                            m.lock();
                            plain++;
                            Go.gosched();
                            m.unlock();
                        }
                    });
                }
                wg.await();
            });
            assertEquals(8 * 500, plain);
        }
    }

    @Test
    void tryLock() {
        Mutex m = new Mutex();
        assertTrue(m.tryLock());
        assertFalse(m.tryLock());
        m.unlock();
        assertTrue(m.tryLock());
        m.unlock();
    }

    @Test
    void with() {
        Mutex m = new Mutex();
        assertEquals("x", m.with(() -> {
            assertFalse(m.tryLock());
            return "x";
        }));
        assertNull(m.with(() -> null));
        assertThrows(ArithmeticException.class, () -> m.with(() -> {
            throw new ArithmeticException();
        }));
        assertTrue(m.tryLock(), "unlocked however it ends");
        assertThrows(NullPointerException.class, () -> m.with(null));
    }

    /** Embedded: an exception, and the mutex is as it was. */
    @Test
    void misuse() {
        Mutex m = new Mutex();
        for (int i = 0; i < 2; i++) {
            assertEquals("sync: unlock of unlocked mutex",
                    assertThrows(IllegalStateException.class, m::unlock).getMessage());
            m.lock();
            m.unlock();
        }
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> assertThrows(IllegalStateException.class, m::unlock));
        }
    }

    /**
     * Also beside others that use it, though some of them find that their lock was given back for them: no goroutine waits for ever.
     * Locks held for more than a millisecond bring hand-overs with it.
     */
    @Stress
    void misuseBesideOthers() {
        for (int procs : new int[] {1, 4}) {
            Mutex m = new Mutex();
            AtomicInteger mistakes = new AtomicInteger();
            AtomicInteger users = new AtomicInteger(6);
            try (TestGmp gmp = TestGmp.with(b -> b.procs(procs).quantum(Duration.ofMinutes(1)))) {
                Crew.run(gmp, 8, 0, 0, id -> {
                    if (id < 2) {
                        while (users.get() != 0) {
                            unlock(m, mistakes);
                            Go.gosched();
                        }
                        return;
                    }
                    for (int i = 0; i < 2_000; i++) {
                        m.lock();
                        if (i % 200 == 0) {
                            Go.sleep(Duration.ofMillis(2));
                        }
                        unlock(m, mistakes);
                    }
                    users.decrementAndGet();
                });
            }
            assertTrue(mistakes.get() != 0);
            assertTrue(m.tryLock(), "left locked");
        }
    }

    /** Of n locks that were taken n unlocks return, whatever happens at once: none is given out twice, none withheld. */
    @Stress
    void mistakesAtOnce() {
        Mutex m = new Mutex();
        AtomicInteger held = new AtomicInteger();
        AtomicInteger mistakes = new AtomicInteger();
        try (TestGmp gmp = TestGmp.procs(2)) {
            Crew.run(gmp, 4, 4, 0, id -> {
                for (int i = 0; i < 10_000; i++) {
                    if (id % 4 == 0 && (id < 4 ? m.tryLock() : lock(m))) {
                        held.incrementAndGet();
                    }
                    try {
                        m.unlock();
                        held.decrementAndGet();
                    } catch (IllegalStateException e) {
                        mistakes.incrementAndGet();
                    }
                }
            });
        }
        assertTrue(mistakes.get() != 0);
        assertEquals(0, held.get() - (m.isLocked() ? 1 : 0));
        if (m.isLocked()) {
            m.unlock();
        }
        assertTrue(m.tryLock());
    }

    /** A waiter that has waited for long turns starvation mode on for a lock that is held, not for a mistake. */
    @Stress
    void starvingBesideMistakes() throws InterruptedException {
        Mutex m = new Mutex();
        AtomicInteger mistakes = new AtomicInteger();
        for (int round = 0; round < 20; round++) {
            AtomicBoolean go = new AtomicBoolean();
            AtomicBoolean got = new AtomicBoolean();
            m.lock();
            Threads others = new Threads().add(2, "mistaken", () -> {
                while (!go.get()) {
                    Thread.onSpinWait();
                }
                while (!got.get()) {
                    unlock(m, mistakes);
                }
            }).add("waiter", () -> {
                m.lock();
                got.set(true);
            }).start();
            LockSupport.parkNanos(3_000_000); // Longer than makes a waiter starve; if it has not begun to wait, no matter.
            go.set(true);
            unlock(m, mistakes);
            others.join();
            if (m.isLocked()) {
                m.unlock();
            }
        }
        assertTrue(m.tryLock(), "left locked");
    }

    private static boolean lock(Mutex m) {
        m.lock();
        return true;
    }

    private static void unlock(Mutex m, AtomicInteger mistakes) {
        try {
            m.unlock();
        } catch (IllegalStateException e) {
            mistakes.incrementAndGet();
        }
    }

    /** An interrupt does not end the wait, and is there afterwards. */
    @Test
    void interrupts() throws InterruptedException {
        Mutex m = new Mutex();
        m.lock();
        List<Thread> waiters = new ArrayList<>();
        AtomicInteger interrupted = new AtomicInteger();
        Runnable wait = () -> {
            m.lock();
            if (Thread.interrupted()) {
                interrupted.incrementAndGet();
            }
            m.unlock();
        };
        waiters.add(Thread.ofPlatform().start(wait));
        waiters.add(Thread.startVirtualThread(wait));
        for (Thread t : waiters) {
            t.interrupt();
            LockSupport.unpark(t);
        }
        m.unlock();
        for (Thread t : waiters) {
            t.join();
        }
        assertEquals(2, interrupted.get());
    }

    /** In the steady state locks and waits are free of garbage. */
    @Test
    void noGarbage() {
        var bean = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        int n = 100_000;
        try (TestGmp gmp = TestGmp.procs(1)) {
            long[] bytes = new long[1];
            gmp.run(() -> {
                for (int round = 0; round < 5; round++) {
                    long before = bean.getTotalThreadAllocatedBytes();
                    handBack(n);
                    bytes[0] = bean.getTotalThreadAllocatedBytes() - before;
                }
            });
            assertTrue(bytes[0] < 8L * n, () -> bytes[0] + " bytes for " + n + " waits"); // Less than the least object each.
        }
    }

    /** Two goroutines; each takes the lock while the other has it. */
    private static void handBack(int n) {
        Mutex m = new Mutex();
        WaitGroup wg = new WaitGroup();
        for (int g = 0; g < 2; g++) {
            wg.go(() -> {
                for (int i = 0; i < n / 2; i++) {
                    m.lock();
                    Go.gosched();
                    m.unlock();
                }
            });
        }
        wg.await();
    }

    /** Preempted as often as can be, in and out of the lock. */
    @Stress
    void shortQuantum() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofNanos(200_000)))) {
            Mutex m = new Mutex();
            Chan<Boolean> done = Chan.make();
            gmp.run(() -> {
                for (int g = 0; g < 6; g++) {
                    Go.go(() -> {
                        for (int i = 0; i < 200_000; i++) {
                            m.lock();
                            plain++;
                            m.unlock();
                        }
                        done.send(true);
                    });
                }
                for (int g = 0; g < 6; g++) {
                    done.recv();
                }
            });
            assertEquals(6 * 200_000, plain);
        }
    }
}
