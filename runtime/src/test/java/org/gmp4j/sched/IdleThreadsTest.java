// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.Idle;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Idle Ms end, when the builder says so; Ms with work do not. */
class IdleThreadsTest {
    private static final int THREADS = 16;

    /** So many Ms, each blocked, then all idle. */
    private static void grow(TestGmp gmp) throws InterruptedException {
        CountDownLatch all = new CountDownLatch(THREADS);
        CountDownLatch go = new CountDownLatch(1);
        WaitGroup done = new WaitGroup();
        for (int i = 0; i < THREADS; i++) {
            done.add(1);
            gmp.go(() -> {
                Go.lockOSThread(); // A thread each.
                all.countDown();
                Chan<Integer> c = Chan.make(1);
                Thread waker = Thread.ofPlatform().start(() -> {
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    c.send(1);
                });
                assertEquals(1, c.recv());
                assertTrue(waker.threadId() != 0);
                Go.unlockOSThread();
                done.done();
            });
        }
        all.await();
        go.countDown();
        done.await();
    }

    @Test
    void unwantedOnesEnd() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).idleThreads(Duration.ofMillis(20)))) {
            Scheduler s = gmp.scheduler();
            grow(gmp);
            while (s.mcount() > 2) {
                Thread.sleep(1);
            }
            grow(gmp); // As good as new.
            assertTrue(s.mcount() >= 2);
            gmp.check();
        }
    }

    /** Or a service at a low load would make threads again and again. */
    @Test
    void asManyStayAsThereArePs() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(4).idleThreads(Duration.ofMillis(2)))) {
            Scheduler s = gmp.scheduler();
            grow(gmp);
            while (s.mcount() > 4) {
                Thread.sleep(1);
            }
            Thread.sleep(50);
            assertEquals(4, s.mcount());
        }
    }

    /** For ten seconds. */
    @Test
    void otherwiseTheyStay() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            grow(gmp);
            int n = gmp.scheduler().mcount();
            assertTrue(n >= THREADS);
            Thread.sleep(50);
            assertTrue(gmp.scheduler().mcount() >= n);
        }
    }

    /** An M whose time is up waits for the lock, as another thread takes it off the idle list. */
    @Test
    void wantedAtTheLastMoment() throws InterruptedException {
        Duration idle = Duration.ofMillis(200);
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).idleThreads(idle))) {
            Scheduler s = gmp.scheduler();
            long sched = s.sched;
            long pp = 0;
            while (pp == 0) {
                grow(gmp);
                SchedLock.lock(sched);
                // The first of them sleeps, or is about to.
                if (Schedt.NMIDLE.getOpaque(sched) > THREADS / 2 && M.BLOCKED.getOpaque(Schedt.MIDLE.get(sched)) != 0) {
                    pp = Idle.pidleget(sched, System.nanoTime());
                }
                if (pp == 0) {
                    SchedLock.unlock(sched);
                }
            }
            Thread.sleep(idle.multipliedBy(2));
            long mp = Idle.mget(sched);
            SchedLock.unlock(sched);
            Threads.startm(s, mp, pp, false);
            Thread thread = s.machine(mp).thread;
            boolean lives;
            do {
                lives = thread.isAlive();
            } while (lives && M.NEXTP.get(mp) != 0);
            assertEquals(0, M.NEXTP.get(mp), "the thread has ended, and the P is lost");
            gmp.check();
        }
    }
}
