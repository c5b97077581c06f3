// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Chan;
import org.gmp4j.DeadlockDetection;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** {@link Checkdead}: all goroutines wait, and yet it is no deadlock. A false report ends the JVM that runs this. */
class CheckdeadTest {
    private static TestGmp detecting(int procs) {
        return TestGmp.with(b -> b.procs(procs).deadlockDetection(DeadlockDetection.STRICT).quantum(Duration.ofMinutes(1)));
    }

    /** No timer ends the wait. */
    @Test
    void aWaitInTheJdk() throws InterruptedException {
        try (TestGmp gmp = detecting(1)) {
            CountDownLatch waits = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(1);
            Scheduler s = gmp.scheduler();
            gmp.go(() -> {
                try {
                    waits.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                done.countDown();
            });
            while (Schedt.NJDKWAIT.getVolatile(s.sched) == 0) {
                Thread.onSpinWait();
            }
            TestGmp.awaitAsleep(s, 0);
            waits.countDown();
            done.await();
        }
    }

    /** A thread that is not an M waits in a call of ours: it may go on and wake a goroutine. */
    @Test
    void aThreadInABlockingCall() throws InterruptedException {
        try (TestGmp gmp = detecting(1)) {
            Scheduler[] s = new Scheduler[1];
            Chan<Integer> toThread = Chan.make();
            Chan<Integer> toGoroutine = Chan.make();
            Threads thread = new Threads().add("thread", () -> toGoroutine.send(toThread.recv())).start();
            while (!Outside.threads()) {
                Thread.onSpinWait();
            }
            CountDownLatch parks = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(1);
            gmp.go(() -> {
                s[0] = GStack.current().s;
                parks.countDown();
                toGoroutine.recv();
                done.countDown();
            });
            parks.await();
            TestGmp.awaitAsleep(s[0], 0);
            toThread.send(1);
            done.await();
            thread.join();
        }
    }

    /** It was woken by the last goroutine that ran, and takes its time. */
    @Test
    void aThreadThatLeftABlockingCall() throws InterruptedException {
        try (TestGmp gmp = detecting(1)) {
            Chan<Integer> toThread = Chan.make();
            Chan<Integer> toGoroutine = Chan.make();
            Threads thread = new Threads().add("thread", () -> {
                toThread.recv();
                Thread.sleep(150); // Sysmon looks meanwhile.
                toGoroutine.send(1);
            }).start();
            gmp.run(() -> {
                while (!toThread.trySend(1)) { // To wait for a thread that is not in a call of ours yet would be a deadlock.
                    Go.gosched();
                }
                toGoroutine.recv();
            });
            thread.join();
        }
    }

    /** Between its count and its queue a goroutine from outside belongs to no P. */
    @Test
    void startsFromOutside() throws InterruptedException {
        try (TestGmp gmp = detecting(1)) {
            for (int i = 0; i < 1_000; i++) {
                CountDownLatch done = new CountDownLatch(1);
                gmp.go(done::countDown);
                done.await();
            }
        }
    }

    /** The thread of a locked goroutine runs while the others go to sleep. */
    @Test
    void lockedThreadsCount() throws InterruptedException {
        try (TestGmp gmp = detecting(2)) {
            CountDownLatch done = new CountDownLatch(1);
            gmp.go(() -> {
                Chan<Integer> c = Chan.make();
                Chan<Integer> never = Chan.make();
                AtomicBoolean parks = new AtomicBoolean();
                Go.go(() -> {
                    Go.lockOSThread();
                    Scheduler s = GStack.current().s;
                    long mp = Machine.of().mp;
                    parks.set(true);
                    c.recv();
                    TestGmp.awaitAsleep(s, 1); // All other Ms sleep, and the other goroutine waits.
                    assert Machine.of().mp == mp && M.LOCKEDG.get(mp) != 0;
                    never.close();
                    Go.unlockOSThread();
                    done.countDown();
                });
                while (!parks.get()) {
                    Go.gosched();
                }
                c.send(1);
                never.recv();
            });
            done.await();
        }
    }

    /** Goroutines of another scheduler may wake ours. */
    @Test
    void anotherScheduler() throws InterruptedException {
        try (TestGmp one = detecting(1); TestGmp two = detecting(1)) {
            Chan<Integer> c = Chan.make();
            CountDownLatch parks = new CountDownLatch(1);
            CountDownLatch done = new CountDownLatch(1);
            Scheduler[] s = new Scheduler[1];
            one.go(() -> {
                s[0] = GStack.current().s;
                parks.countDown();
                c.recv();
                done.countDown();
            });
            parks.await();
            two.go(() -> {
                TestGmp.awaitAsleep(s[0], 0);
                c.send(1);
            });
            done.await();
        }
    }
}
