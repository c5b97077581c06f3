// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Goroutines that threads without a P start or wake, while the Ps have enough to do. */
class ArrivalsTest {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final int ROUNDS = 15;
    /** Then the pair ends, and whoever waits runs, but too late. */
    private static final int PAIR = 200_000;
    /** A share of those that have arrived is taken once in so many switches. */
    private static final int ARRIVED_FIRST = 1_024;
    private static final int WAITING = 3;
    private static final int MAX_TRIES = 20;

    /** How a goroutine arrives. */
    private enum By {
        START, CHANNEL, UNPARK, SYSCALL
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
                LockSupport.park();
                arrived.run();
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

    /** They run soon, although those that run share a time slice, and there is always one of them to run. */
    @ParameterizedTest
    @EnumSource(By.class)
    void besideTwoThatReadyEachOther(By by) throws InterruptedException {
        long[] switches = new long[ROUNDS];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(LONG))) {
            long pp = gmp.scheduler().procs()[0].pp;
            for (int i = 0; i < ROUNDS; i++) {
                AtomicLong until = new AtomicLong();
                CountDownLatch ready = new CountDownLatch(1);
                CountDownLatch ran = new CountDownLatch(1);
                Arrival arrival = new Arrival(by, gmp, () -> {
                    until.set(P.nswitchOpaque(pp));
                    ran.countDown();
                });
                gmp.go(() -> {
                    arrival.prepare();
                    Chan<Boolean> there = Chan.make();
                    Chan<Boolean> back = Chan.make();
                    Go.go(() -> {
                        while (there.recv() != null) {
                            back.send(true);
                        }
                    });
                    ready.countDown();
                    for (int k = 0; k < PAIR && ran.getCount() != 0; k++) {
                        there.send(true);
                        back.recv();
                    }
                    there.close();
                });
                ready.await();
                long before = P.nswitchOpaque(pp);
                arrival.arrive();
                ran.await();
                switches[i] = until.get() - before;
            }
        }
        Arrays.sort(switches); // The thread that lets it arrive may lose its CPU just before.
        assertTrue(switches[ROUNDS / 2] < 4 * ARRIVED_FIRST, Arrays.toString(switches));
    }

    /** In the global queue they stand before those that have had a slice. */
    @ParameterizedTest
    @EnumSource(By.class)
    void beforeThoseThatHadASlice(By by) throws InterruptedException {
        List<String> order = new ArrayList<>();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(LONG))) {
            Arrival arrival = new Arrival(by, gmp, () -> order.add("arrived"));
            long sched = gmp.scheduler().sched;
            Holder holder = new Holder(gmp, arrival::prepare, order);
            arrival.arrive();
            while (Schedt.runqsizeOpaque(sched) <= WAITING) {
                Thread.onSpinWait();
            }
            holder.end();
        }
        assertEquals("arrived", order.getFirst());
        assertEquals(WAITING + 1, order.size());
    }

    /** Nor does one that yields come before others by that. */
    @Test
    void notThoseThatTheJdkYields() throws InterruptedException {
        List<String> order = new ArrayList<>();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(LONG))) {
            Thread yields = gmp.gmp.threadFactory().newThread(() -> {
                Thread.yield();
                order.add("yielded");
            });
            new Holder(gmp, yields::start, order).end();
        }
        assertEquals("waited", order.getFirst());
        assertEquals(WAITING + 1, order.size());
    }

    /** Nor one that lost its P as it needed the CPU for long; unless its thread, which the JVM may stop, seemed asleep. */
    @Test
    void notThoseThatRanOnWithoutAP() throws InterruptedException {
        String first = "";
        for (int i = 0; i < MAX_TRIES && !"waited".equals(first); i++) {
            List<String> order = new ArrayList<>();
            try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)))) {
                long sched = gmp.scheduler().sched;
                AtomicBoolean over = new AtomicBoolean();
                gmp.go(() -> {
                    while (!over.get()) {
                        Thread.onSpinWait();
                    }
                    GStack.exit(GStack.enterChecked());
                    order.add("ran on");
                });
                Holder holder = new Holder(gmp, () -> { }, order);
                over.set(true);
                while (Schedt.runqsizeOpaque(sched) <= WAITING) {
                    Thread.onSpinWait();
                }
                holder.end();
            }
            first = order.getFirst();
        }
        assertEquals("waited", first);
    }

    /** A goroutine that keeps the only P, while some that have had a slice wait. */
    private static final class Holder {
        private final AtomicBoolean over = new AtomicBoolean();

        Holder(TestGmp gmp, Runnable first, List<String> order) throws InterruptedException {
            CountDownLatch running = new CountDownLatch(1);
            gmp.go(() -> {
                first.run();
                for (int i = 0; i < WAITING; i++) {
                    Go.go(() -> {
                        TestGmp.endSlice();
                        order.add("waited");
                    });
                }
                TestGmp.endSliceUntil(WAITING);
                GStack st = GStack.enter(); // Nobody takes its P.
                running.countDown();
                while (!over.get()) {
                    Thread.onSpinWait();
                }
                GStack.exit(st);
            });
            running.await();
        }

        void end() {
            over.set(true);
        }
    }
}
