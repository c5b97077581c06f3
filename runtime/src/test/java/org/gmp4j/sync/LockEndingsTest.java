// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Go;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** Waits for locks that are ended while others unlock: no lock is lost or given out twice, and no waiter is forgotten. */
class LockEndingsTest {
    private static final int ROUNDS = 2_000;

    private static Duration aMoment() {
        return Duration.ofNanos(ThreadLocalRandom.current().nextInt(1_000, 60_000));
    }

    /** Goroutines and threads that give up after a moment, or do not, beside each other; the last always gets the lock. */
    private static void crowd(Threads.Body patient, Threads.Body hasty) throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Threads threads = new Threads().add(2, "hasty", () -> {
                for (int i = 0; i < ROUNDS; i++) {
                    hasty.run();
                }
            }).add("patient", () -> {
                for (int i = 0; i < ROUNDS; i++) {
                    patient.run();
                }
            }).start();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int g = 0; g < 4; g++) {
                    Threads.Body body = g == 0 ? patient : hasty;
                    wg.go(() -> {
                        try {
                            for (int i = 0; i < ROUNDS; i++) {
                                body.run();
                            }
                        } catch (Throwable t) {
                            throw new AssertionError(t);
                        }
                    });
                }
                wg.await();
            });
            threads.join();
        }
    }

    @Stress
    void mutex() throws InterruptedException {
        Mutex m = new Mutex();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger late = new AtomicInteger();
        Threads.Body work = () -> {
            assertEquals(1, inside.incrementAndGet());
            Thread.yield();
            assertEquals(0, inside.decrementAndGet());
            m.unlock();
        };
        crowd(() -> {
            m.lock();
            work.run();
        }, () -> {
            if (m.lockWithin(aMoment())) {
                work.run();
            } else {
                late.incrementAndGet();
            }
        });
        assertTrue(late.get() > 0, "nobody gave up");
        assertTrue(m.tryLock(), "left locked, or starving");
    }

    /** One waits; an unlock and an interrupt meet: the waiter has the lock, or has left without what the unlock gave it. */
    @Stress
    void anUnlockMeetsAnInterrupt() throws InterruptedException {
        Mutex m = new Mutex();
        int n = 1_500;
        AtomicInteger round = new AtomicInteger();
        AtomicInteger over = new AtomicInteger();
        Thread waiter = Thread.ofPlatform().daemon().unstarted(() -> {
            for (int i = 1; i <= n; i++) {
                while (round.get() != i) {
                    Thread.yield();
                }
                try {
                    m.lockInterruptibly();
                    m.unlock();
                } catch (InterruptedException e) {
                    Thread.onSpinWait();
                }
                over.set(i);
                while (round.get() != -i) {
                    Thread.yield();
                }
                boolean _ = Thread.interrupted();
                over.set(-i);
            }
        });
        AtomicInteger go = new AtomicInteger();
        Thread other = Thread.ofPlatform().daemon().unstarted(() -> {
            for (int i = 1; i <= n; i++) {
                while (go.get() != i) {
                    Thread.yield();
                }
                waiter.interrupt();
                go.set(-i);
            }
        });
        waiter.start();
        other.start();
        for (int i = 1; i <= n; i++) {
            m.lock();
            round.set(i);
            LockSupport.parkNanos(20_000); // It waits now, most likely.
            go.set(i);
            spin(ThreadLocalRandom.current().nextInt(600)); // The interrupt takes some microseconds to come through.
            m.unlock();
            while (over.get() != i || go.get() != -i) {
                Thread.yield();
            }
            round.set(-i);
            while (over.get() != -i) {
                Thread.yield();
            }
            assertTrue(m.tryLock(), "withheld");
            m.unlock();
        }
        m.lock(); // A waiter that left with its unit leaves no other to wake.
        waitsFor(m::lock, m::unlock, m::unlock);
    }

    private static void spin(int n) {
        for (int i = 0; i < n; i++) {
            Thread.onSpinWait();
        }
    }

    /** A waiter made the mutex starve and left, the last: the mutex is as free as any when it is unlocked. */
    @Test
    void mutexLeftStarving() throws InterruptedException {
        for (int round = 0; round < 10; round++) {
            Mutex m = new Mutex();
            m.lock();
            Thread t = Thread.ofPlatform().start(() -> {
                try {
                    m.lockInterruptibly();
                    m.unlock();
                } catch (InterruptedException e) {
                    return;
                }
            });
            LockSupport.parkNanos(3_000_000); // Longer than makes a waiter starve; if it has not begun to wait, no matter.
            m.unlock();
            m.lock(); // Most likely before the one that was woken: it is woken in vain, and makes the mutex starve.
            LockSupport.parkNanos(1_000_000);
            t.interrupt();
            t.join();
            m.unlock();
            assertTrue(m.tryLock(), "handed over to one that has left");
        }
    }

    @Stress
    void rwMutex() throws InterruptedException {
        RWMutex m = new RWMutex();
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        AtomicInteger late = new AtomicInteger();
        Threads.Body read = () -> {
            readers.incrementAndGet();
            assertEquals(0, writers.get());
            Thread.yield();
            readers.decrementAndGet();
            m.rUnlock();
        };
        Threads.Body write = () -> {
            assertEquals(1, writers.incrementAndGet());
            assertEquals(0, readers.get());
            Thread.yield();
            writers.decrementAndGet();
            m.unlock();
        };
        crowd(() -> {
            if (ThreadLocalRandom.current().nextInt(4) == 0) {
                m.lock();
                write.run();
            } else {
                m.rLock();
                read.run();
            }
        }, () -> {
            boolean writes = ThreadLocalRandom.current().nextInt(3) == 0;
            if (writes ? m.lockWithin(aMoment()) : m.rLockWithin(aMoment())) {
                (writes ? write : read).run();
            } else {
                late.incrementAndGet();
            }
        });
        assertTrue(late.get() > 0, "nobody gave up");
        assertTrue(m.tryLock(), "left locked");
        m.unlock();
        assertTrue(m.tryRLock(), "a writer is left");
    }

    @Test
    void aWriterThatLeavesLetsReadersIn() throws InterruptedException {
        RWMutex m = new RWMutex();
        m.rLock();
        AtomicInteger in = new AtomicInteger();
        Thread writer = Thread.ofPlatform().start(() -> assertThrows(InterruptedException.class, m::lockInterruptibly));
        while (m.tryRLock()) {
            m.rUnlock();
        }
        AtomicBoolean comes = new AtomicBoolean();
        Thread reader = Thread.ofPlatform().daemon().start(() -> {
            comes.set(true);
            m.rLock();
            in.incrementAndGet();
            m.rUnlock();
        });
        while (!comes.get()) {
            Thread.onSpinWait();
        }
        LockSupport.parkNanos(5_000_000); // It waits now, most likely.
        writer.interrupt();
        writer.join();
        reader.join();
        assertEquals(1, in.get());
        m.rUnlock();
        assertTrue(m.tryLock());
    }

    /** A reader that may give up, but has all the time, and a writer that unlocks as it comes, or up to 20 µs later. */
    @Stress
    void aReaderMeetsTheUnlock() throws InterruptedException {
        RWMutex m = new RWMutex();
        int n = 2_000;
        AtomicInteger turn = new AtomicInteger();
        AtomicInteger comes = new AtomicInteger();
        new Threads().add("writer", () -> {
            for (int i = 0; i < n; i++) {
                m.lock();
                turn.set(i + 1);
                while (comes.get() != i + 1) {
                    Thread.yield();
                }
                for (long until = System.nanoTime() + i % 21 * 1_000; System.nanoTime() < until;) {
                    Thread.onSpinWait();
                }
                m.unlock();
                while (turn.get() != -i - 1) {
                    Thread.yield();
                }
            }
        }).add("reader", () -> {
            for (int i = 0; i < n; i++) {
                while (turn.get() != i + 1) {
                    Thread.yield();
                }
                comes.set(i + 1);
                m.rLockInterruptibly();
                m.rUnlock();
                turn.set(-i - 1);
            }
        }).run();
    }

    @Test
    void aReaderThatMayLeaveIsTold() throws InterruptedException {
        RWMutex m = new RWMutex();
        for (int round = 0; round < 5; round++) {
            m.lock();
            waitsFor(m::rLockInterruptibly, m::rUnlock, m::unlock);
        }
        assertTrue(m.tryLock());
    }

    /** A thread waits, most likely, for what is given back then, and goes on. */
    private static void waitsFor(Threads.Body take, Runnable giveBack, Runnable release) throws InterruptedException {
        Threads waiter = new Threads().add("waiter", () -> {
            take.run();
            giveBack.run();
        }).start();
        LockSupport.parkNanos(5_000_000);
        release.run();
        waiter.join();
    }

    @Stress
    void waitGroupRounds() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                int late = 0;
                for (int i = 0; i < ROUNDS; i++) {
                    WaitGroup wg = new WaitGroup();
                    AtomicInteger done = new AtomicInteger();
                    WaitGroup hasty = new WaitGroup();
                    wg.add(1);
                    boolean[] inTime = new boolean[1];
                    hasty.go(() -> {
                        inTime[0] = wg.awaitWithin(aMoment());
                        assertTrue(!inTime[0] || done.get() == 1, "went on too early");
                    });
                    Go.go(() -> {
                        Go.sleep(aMoment());
                        done.incrementAndGet();
                        wg.done();
                    });
                    wg.await();
                    assertEquals(1, done.get());
                    hasty.await();
                    late += inTime[0] ? 0 : 1;
                    wg.add(1); // The next round: nothing of the last is left in it.
                    assertFalse(wg.awaitWithin(Duration.ofNanos(1_000)), "let go by a unit of the last round");
                    wg.done();
                    wg.await();
                }
                assertTrue(late > 0, "nobody gave up");
            });
        }
    }

    /** As many tokens as signals: each signal reaches one that waits, however many leave. */
    @Stress
    void condSignals() throws InterruptedException {
        Mutex m = new Mutex();
        Cond c = new Cond(m);
        int[] tokens = new int[1];
        AtomicInteger taken = new AtomicInteger();
        int n = 3_000;
        try (TestGmp gmp = TestGmp.procs(2)) {
            List<Thread> all = new ArrayList<>();
            for (int g = 0; g < 6; g++) {
                boolean hasty = g > 1;
                all.add(gmp.gmp.threadFactory().newThread(() -> {
                    m.lock();
                    while (taken.get() < n) {
                        boolean takes = true;
                        if (hasty) { // Takes one for a signal alone: polling would hide one that was lost.
                            takes = c.awaitWithin(aMoment());
                        } else if (tokens[0] == 0) {
                            c.await();
                        }
                        if (takes && tokens[0] > 0) {
                            tokens[0]--;
                            taken.incrementAndGet();
                        }
                    }
                    m.unlock();
                    c.broadcast();
                }));
            }
            all.forEach(Thread::start);
            for (int i = 0; i < n; i++) {
                m.withLock(() -> tokens[0]++);
                c.signal();
                if (i % 64 == 0) {
                    while (taken.get() <= i) { // One that waits for ever gets the signal that one which left did not take.
                        Thread.yield();
                    }
                }
            }
            for (Thread t : all) {
                t.join();
            }
        }
        assertEquals(n, taken.get());
        assertEquals(0, tokens[0]);
    }
}
