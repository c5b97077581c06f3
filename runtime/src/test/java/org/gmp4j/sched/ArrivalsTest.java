// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Goroutines that threads without a P start or wake, while the Ps have enough to do. */
class ArrivalsTest {
    private static final Duration QUANTUM = Duration.ofMillis(400);
    private static final int ROUNDS = 5;

    /** How a goroutine arrives. */
    private enum By {
        START, CHANNEL, UNPARK, MONITOR, SYSCALL
    }

    /** A goroutine that runs {@code arrived} when a thread without a P lets it. */
    private static final class Arrival {
        private final By by;
        private final TestGmp gmp;
        private final Runnable arrived;
        private final Chan<Boolean> chan = Chan.make();
        private final CountDownLatch called = new CountDownLatch(1);
        private final CountDownLatch returns = new CountDownLatch(1);
        private final Thread thread;

        Arrival(By by, TestGmp gmp, Runnable arrived) {
            this.by = by;
            this.gmp = gmp;
            this.arrived = arrived;
            thread = gmp.gmp.threadFactory().newThread(() -> {
                if (by == By.UNPARK) {
                    LockSupport.park();
                }
                synchronized (chan) {
                    arrived.run();
                }
            });
        }

        /** On a goroutine: until it waits. */
        void prepare() {
            switch (by) {
                case START -> { }
                case CHANNEL -> {
                    Go.go(() -> {
                        chan.recv();
                        arrived.run();
                    });
                    TestGmp.awaitOthers();
                }
                case UNPARK -> {
                    thread.start();
                    TestGmp.awaitOthers();
                }
                case MONITOR -> {
                    Thread.ofPlatform().start(this::holdMonitor);
                    while (called.getCount() != 0) {
                        Go.gosched();
                    }
                    thread.start();
                    TestGmp.awaitOthers();
                }
                default -> {
                    Go.go(() -> {
                        GStack st = GStack.current();
                        Syscall.enter(st);
                        called.countDown();
                        while (returns.getCount() != 0) {
                            Thread.onSpinWait();
                        }
                        Syscall.exit(st);
                        arrived.run();
                    });
                    while (called.getCount() != 0) {
                        Go.gosched();
                    }
                }
            }
        }

        private void holdMonitor() {
            synchronized (chan) {
                called.countDown();
                while (returns.getCount() != 0) {
                    Thread.onSpinWait();
                }
            }
        }

        /** By a plain thread. */
        void arrive() {
            switch (by) {
                case START -> gmp.go(arrived);
                case CHANNEL -> chan.send(true);
                case UNPARK -> LockSupport.unpark(thread);
                default -> returns.countDown();
            }
        }
    }

    /** They run long before the slice ends that two share by readying each other. */
    @ParameterizedTest
    @EnumSource(By.class)
    void besideTwoThatReadyEachOther(By by) throws InterruptedException {
        long[] late = new long[ROUNDS];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            for (int i = 0; i < ROUNDS; i++) {
                AtomicLong at = new AtomicLong();
                CountDownLatch ready = new CountDownLatch(1);
                CountDownLatch ran = new CountDownLatch(1);
                Arrival arrival = new Arrival(by, gmp, () -> {
                    at.set(System.nanoTime());
                    ran.countDown();
                });
                gmp.go(() -> {
                    arrival.prepare();
                    ready.countDown();
                    pair(ran, 0, () -> { });
                });
                ready.await();
                long now = System.nanoTime();
                arrival.arrive();
                ran.await();
                late[i] = at.get() - now;
            }
        }
        Arrays.sort(late);
        assertTrue(late[ROUNDS / 2] < QUANTUM.toNanos() / 2, Arrays.toString(late));
    }

    /** Goroutines that are woken go ahead of goroutines that were started before: three before each, in the order of their wake-ups. */
    @ParameterizedTest
    @EnumSource(names = {"CHANNEL", "UNPARK", "MONITOR"})
    void thoseThatWakeUpGoAhead(By by) throws InterruptedException {
        Map<Long, String> names = new ConcurrentHashMap<>();
        List<Long> queue = new ArrayList<>();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            long sched = gmp.scheduler().sched;
            CountDownLatch ready = new CountDownLatch(1);
            CountDownLatch queued = new CountDownLatch(1);
            CountDownLatch ran = new CountDownLatch(6);
            List<Arrival> woken = new ArrayList<>();
            for (int i = 1; i <= 4; i++) {
                String name = "woken " + i;
                woken.add(new Arrival(by, gmp, () -> ran(names, name, ran)));
            }
            gmp.go(() -> {
                woken.forEach(Arrival::prepare);
                GStack st = GStack.enter(); // Sysmon does not take its P.
                ready.countDown();
                while (queued.getCount() != 0) {
                    Thread.onSpinWait();
                }
                GStack.exit(st);
            });
            ready.await();
            gmp.go(() -> ran(names, "begins 1", ran));
            gmp.go(() -> ran(names, "begins 2", ran));
            for (int i = 0; i < woken.size(); i++) {
                woken.get(i).arrive();
                while (Schedt.RUNQSIZE.getOpaque(sched) < 3 + i) {
                    Thread.onSpinWait();
                }
            }
            SchedLock.lock(sched);
            for (long gp = GlobalRunq.head(GlobalRunq.arrived(sched)); gp != 0; gp = G.SCHEDLINK.get(gp)) {
                queue.add(G.GOID.get(gp));
            }
            SchedLock.unlock(sched);
            queued.countDown();
            ran.await();
        }
        assertEquals(List.of("woken 1", "woken 2", "woken 3", "begins 1", "woken 4", "begins 2"), queue.stream().map(names::get).toList());
    }

    private static void ran(Map<Long, String> names, String name, CountDownLatch ran) {
        names.put(G.GOID.get(GStack.current().gp()), name);
        ran.countDown();
    }

    /** Those that come with the first have their turn as well, in the ring, and not when a slice ends: one has begun with the first. */
    @Test
    void thoseThatComeWithIt() throws InterruptedException {
        long[] late = new long[ROUNDS];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            long sched = gmp.scheduler().sched;
            for (int i = 0; i < ROUNDS; i++) {
                AtomicLong first = new AtomicLong();
                AtomicLong second = new AtomicLong();
                CountDownLatch ready = new CountDownLatch(1);
                CountDownLatch ran = new CountDownLatch(2);
                gmp.go(() -> {
                    GStack st = GStack.enter(); // Sysmon does not take its P.
                    ready.countDown();
                    while (Schedt.RUNQSIZE.getOpaque(sched) < 2) {
                        Thread.onSpinWait();
                    }
                    GStack.exit(st);
                    pair(ran, 0, () -> { });
                });
                ready.await();
                gmp.go(() -> {
                    first.set(System.nanoTime());
                    ran.countDown();
                });
                gmp.go(() -> {
                    second.set(System.nanoTime());
                    ran.countDown();
                });
                ran.await();
                late[i] = second.get() - first.get();
            }
        }
        Arrays.sort(late);
        assertTrue(late[ROUNDS / 2] < QUANTUM.toNanos() / 8, Arrays.toString(late));
    }

    /** A goroutine in the ring runs long before the slice ends that two share by readying each other, whenever it comes to the ring. */
    @ParameterizedTest
    @ValueSource(ints = {0, 10})
    void theRingBesideTwoThatReadyEachOther(int rounds) {
        long[] late = new long[ROUNDS];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            for (int i = 0; i < ROUNDS; i++) {
                AtomicLong started = new AtomicLong();
                AtomicLong at = new AtomicLong();
                CountDownLatch ran = new CountDownLatch(1);
                gmp.run(() -> pair(ran, rounds, () -> {
                    started.set(System.nanoTime());
                    Go.go(() -> {
                        at.set(System.nanoTime());
                        ran.countDown();
                    });
                }));
                late[i] = at.get() - started.get();
            }
        }
        Arrays.sort(late);
        assertTrue(late[ROUNDS / 2] < QUANTUM.toNanos() / 8, Arrays.toString(late));
    }

    /** Two goroutines ready each other until all have run that are waited for. After so many rounds the first does {@code then}. */
    private static void pair(CountDownLatch ran, int rounds, Runnable then) {
        Chan<Boolean> there = Chan.make();
        Chan<Boolean> back = Chan.make();
        Go.go(() -> {
            while (there.recv() != null) {
                back.send(true);
            }
        });
        for (int i = 0; ran.getCount() != 0; i++) {
            there.send(true);
            if (i == rounds) {
                then.run();
            }
            back.recv(); // Readies the other, so that a goroutine that "then" has started goes from runnext to the ring.
        }
        there.close();
    }
}
