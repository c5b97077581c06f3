// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@code LockOSThread}: a goroutine and a thread of its own, for as long as it wants. */
class LockOSThreadTest {
    private static final int STEPS = 300;

    /** Through every kind of wait it comes back to the same thread. */
    @Stress
    void staysOnItsThread() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                Chan<Integer> c = Chan.make();
                for (int i = 0; i < 6; i++) {
                    int id = i;
                    wg.go(() -> {
                        if (id < 4) {
                            Go.lockOSThread();
                        }
                        int tid = OsThread.gettid();
                        for (int k = 0; k < STEPS; k++) {
                            switch (k % 4) {
                                case 0 -> Go.gosched();
                                case 1 -> Thread.yield();
                                case 2 -> Go.sleep(Duration.ofNanos(1_000));
                                default -> {
                                    if (id % 2 == 0) {
                                        c.send(k);
                                    } else {
                                        c.recv();
                                    }
                                }
                            }
                            if (id < 4) {
                                assertEquals(tid, OsThread.gettid());
                            }
                        }
                    });
                }
                wg.await();
            });
            gmp.check();
        }
    }

    /** While it waits no other goroutine is on its thread. */
    @Test
    void nobodyElseOnItsThread() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                Chan<Integer> mine = Chan.make();
                Chan<Integer> c = Chan.make();
                Go.go(() -> {
                    Go.lockOSThread();
                    mine.send(OsThread.gettid());
                    c.recv();
                    Go.unlockOSThread();
                });
                int locked = mine.recv();
                WaitGroup wg = new WaitGroup();
                Set<Integer> used = ConcurrentHashMap.newKeySet();
                for (int i = 0; i < STEPS; i++) {
                    wg.go(() -> {
                        used.add(OsThread.gettid());
                        Go.gosched();
                        used.add(OsThread.gettid());
                    });
                }
                wg.await();
                assertFalse(used.contains(locked));
                c.send(1);
            });
        }
    }

    /** When it yields and only the global queue has others, none of those runs on its thread. */
    @Test
    void nobodyElseWhenItYields() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            gmp.run(() -> {
                Go.lockOSThread();
                int locked = OsThread.gettid();
                long sched = GStack.current().s.sched;
                for (int i = 1; i <= 5; i++) {
                    AtomicInteger other = new AtomicInteger();
                    Thread _ = Thread.ofPlatform().start(() -> gmp.go(() -> other.set(OsThread.gettid())));
                    while (Schedt.RUNQSIZE.getOpaque(sched) == 0 && other.get() == 0) {
                        Thread.onSpinWait();
                    }
                    while (other.get() == 0) {
                        Go.gosched();
                    }
                    assertNotEquals(locked, other.get());
                    assertEquals(locked, OsThread.gettid());
                }
            });
        }
    }

    /** Nor when it ends: those that it started would run on its stack, in place. */
    @Test
    void nobodyElseAfterItsEnd() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            int[] locked = new int[1];
            Set<Integer> used = ConcurrentHashMap.newKeySet();
            CountDownLatch ended = new CountDownLatch(4);
            gmp.run(() -> {
                Go.lockOSThread();
                locked[0] = OsThread.gettid();
                for (int i = 0; i < 4; i++) {
                    Go.go(() -> {
                        used.add(OsThread.gettid());
                        ended.countDown();
                    });
                }
            });
            ended.await();
            assertFalse(used.contains(locked[0]));
        }
    }

    /** A wait that pins it to its thread anyway does not end the lock. */
    @Test
    void lockedAfterAPinnedWait() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            gmp.run(() -> {
                GStack st = GStack.current();
                Go.lockOSThread();
                Chan<Integer> c = Chan.make(); // With one P, the sender comes after the one that waits.
                Go.go(() -> c.send(1));
                PinningCall.run(() -> assertEquals(1, c.recv()));
                assertEquals(Machine.of().mp, G.LOCKEDM.get(st.gp));
                assertEquals(st.gp, M.LOCKEDG.get(Machine.of().mp));
                Go.unlockOSThread();
                Go.go(() -> c.send(2));
                PinningCall.run(() -> assertEquals(2, c.recv()));
                assertEquals(0, G.LOCKEDM.get(st.gp));
                assertEquals(0, M.LOCKEDG.get(Machine.of().mp));
            });
        }
    }

    /** A goroutine that ends locked takes its thread along. */
    @Test
    void endsItsThread() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            int[] tid = new int[1];
            gmp.run(() -> {
                Go.lockOSThread();
                Go.lockOSThread();
                Go.unlockOSThread();
                tid[0] = OsThread.gettid();
            });
            while (Files.exists(Path.of("/proc/self/task/" + tid[0]))) {
                Thread.onSpinWait();
            }
            gmp.run(() -> assertNotEquals(tid[0], OsThread.gettid()));
        }
    }

    /** As many unlocks as locks; one too many does nothing. */
    @Test
    void locksAreCounted() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                GStack st = GStack.current();
                Go.lockOSThread();
                Go.lockOSThread();
                Go.unlockOSThread();
                assertEquals(Machine.of().mp, G.LOCKEDM.get(st.gp));
                assertEquals(st.gp, M.LOCKEDG.get(Machine.of().mp));
                Go.unlockOSThread();
                assertEquals(0, G.LOCKEDM.get(st.gp));
                assertEquals(0, M.LOCKEDG.get(Machine.of().mp));
                Go.unlockOSThread();
                assertEquals(0, M.LOCKEDEXT.get(Machine.of().mp));
            });
        }
    }
}
