// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.DeadlockDetection;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stops, resets, receives and moving Ps race for timers; Go's {@code time/sleep_test.go} and {@code tick_test.go}. */
class TimerRaceTest {
    private static final Duration LONG = Duration.ofSeconds(10_000);
    private static final Duration MILLI = Duration.ofMillis(1);

    /** Go: {@code TestTimerStopResetRace} in spirit: each arming ends once, in a run, a stop or a reset that says so. */
    @Stress
    void everyArmingEndsOnce() throws InterruptedException {
        int timers = 64;
        AtomicLong armed = new AtomicLong(timers);
        AtomicLong ended = new AtomicLong();
        try (TestGmp gmp = TestGmp.procs(4)) {
            List<Timer> all = new ArrayList<>();
            for (int i = 0; i < timers; i++) {
                Runnable fn = ended::incrementAndGet;
                all.add(i % 4 == 0 ? Time.afterFunc(LONG, fn) : gmp.call(() -> Time.afterFunc(LONG, fn)));
            }
            Runnable churn = () -> {
                Random random = new Random();
                for (int i = 0; i < 20_000; i++) {
                    Timer t = all.get(random.nextInt(timers));
                    if (random.nextInt(3) == 0) {
                        ended.addAndGet(t.stop() ? 1 : 0);
                    } else {
                        armed.incrementAndGet();
                        Duration d = random.nextInt(4) == 0 ? LONG : Duration.ofNanos(random.nextInt(200_000));
                        ended.addAndGet(t.reset(d) ? 1 : 0);
                    }
                    if (i % 64 == 0 && Go.inGoroutine()) {
                        Go.gosched();
                    }
                }
            };
            Threads threads = new Threads().add(2, "thread", churn::run).start();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 6; i++) {
                    wg.go(churn);
                }
                wg.await();
            });
            threads.join();
            for (Timer t : all) {
                ended.addAndGet(t.stop() ? 1 : 0);
            }
            gmp.check();
        }
        while (ended.get() < armed.get()) {
            Thread.yield(); // Functions outside run in threads of their own.
        }
        Thread.sleep(5);
        assertEquals(armed.get(), ended.get());
    }

    /** Go: {@code TestStopResult}: stop of a timer tells whether its value was received, 1,000 racing. */
    @Stress
    void stopResult() {
        stopOrReset(Timer::stop);
    }

    /** Go: {@code TestResetResult}. */
    @Stress
    void resetResult() {
        stopOrReset(t -> t.reset(LONG));
    }

    private static void stopOrReset(java.util.function.Predicate<Timer> how) {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 1_000; i++) {
                    wg.go(() -> {
                        for (int j = 0; j < 20; j++) {
                            stopOrReset(how, j);
                        }
                    });
                }
                wg.await();
            });
        }
    }

    private static void stopOrReset(java.util.function.Predicate<Timer> how, int j) {
        Timer t = Time.newTimer(Duration.ofNanos(100_000));
        AtomicInteger received = new AtomicInteger();
        Chan<Integer> done = Chan.make();
        Go.go(() -> {
            assertNotNull(t.c().recv());
            received.incrementAndGet();
            done.send(1);
        });
        if (j % 2 == 0) {
            Go.sleep(Duration.ofNanos(100_000));
        } else {
            Go.gosched();
        }
        if (how.test(t)) {
            assertEquals(0, received.get(), "it was stopped and yet received");
            assertNull(done.tryRecv());
            t.reset(Duration.ZERO);
        }
        done.recv();
        assertEquals(1, received.get());
        assertNull(t.c().tryRecv());
    }

    /** Go: {@code TestAdjustTimers}, {@code TestLongAdjustTimers}: many timers set to earlier and later all the time. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void adjustTimers(int procs) {
        int n = 2_000;
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(() -> {
                Random random = new Random(7);
                AtomicInteger ran = new AtomicInteger();
                WaitGroup wg = new WaitGroup();
                wg.add(n);
                List<Timer> all = new ArrayList<>();
                for (int i = 0; i < n; i++) {
                    all.add(Time.afterFunc(LONG, () -> {
                        ran.incrementAndGet();
                        wg.done();
                    }));
                }
                for (int i = 0; i < 20 * n; i++) {
                    all.get(random.nextInt(n)).reset(Duration.ofSeconds(1_000 + random.nextInt(10_000)));
                    if (i % 100 == 0) {
                        Go.gosched();
                    }
                }
                assertEquals(0, ran.get());
                long begin = System.nanoTime();
                for (Timer t : all) {
                    assertTrue(t.reset(Duration.ofNanos(random.nextInt(20_000_000))));
                }
                wg.await();
                assertEquals(n, ran.get());
                assertTrue(System.nanoTime() - begin < LONG.toNanos());
            });
            gmp.check();
        }
    }

    /** Go: {@code TestSleepZeroDeadlock}: sleeps of 0 beside a timer's goroutine that stops the world. */
    @Test
    void sleepZeroDeadlock() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                AtomicInteger procs = new AtomicInteger(3);
                WaitGroup wg = new WaitGroup();
                wg.add(1);
                Timer t = Time.afterFunc(MILLI, () -> {
                    for (int i = 0; i < 100; i++) {
                        Go.gomaxprocs(3 + procs.incrementAndGet() % 2);
                    }
                    wg.done();
                });
                for (int i = 0; i < 10_000; i++) {
                    Go.sleep(Duration.ZERO);
                    Time.newTimer(Duration.ZERO).c().recv();
                }
                wg.await();
                assertFalse(t.stop());
            });
        }
    }

    /** Timers move from Ps that die while Ms without a P, and sysmon, look at them: none is lost or taken for lost. */
    @Stress
    void movedWhileOthersLook() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(4).deadlockDetection(DeadlockDetection.STRICT))) {
            CountDownLatch done = new CountDownLatch(8);
            for (int i = 0; i < 8; i++) {
                gmp.go(() -> {
                    Random random = new Random();
                    for (int j = 0; j < 300; j++) {
                        Timer far = Time.afterFunc(LONG, () -> { });
                        Time.after(Duration.ofNanos(random.nextInt(300_000))).recv();
                        Go.sleep(Duration.ofNanos(random.nextInt(100_000)));
                        assertTrue(far.stop());
                    }
                    done.countDown();
                });
            }
            Random random = new Random(3);
            while (!done.await(0, TimeUnit.NANOSECONDS)) {
                gmp.gmp.setProcs(1 + random.nextInt(6));
            }
            gmp.check();
        }
    }

    /** Go: {@code TestMultiWakeupTicker}: goroutines on several Ps wait on one ticker, others come and go. */
    @Test
    void multiWakeupTicker() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                Ticker t = Time.newTicker(Duration.ofNanos(1_000));
                for (int i = 0; i < 8; i++) {
                    wg.go(() -> {
                        for (int j = 0; j < 500; j++) {
                            assertNotNull(t.c().recv());
                        }
                    });
                }
                wg.await();
                t.stop();
            });
        }
    }

    /** Go: {@code TestMultiWakeupTimer}: as often as it is set, one of those that wait gets it. */
    @Test
    void multiWakeupTimer() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                Timer t = Time.newTimer(Duration.ofNanos(1_000));
                for (int i = 0; i < 8; i++) {
                    wg.go(() -> {
                        for (int j = 0; j < 500; j++) {
                            assertNotNull(t.c().recv());
                            t.reset(Duration.ofNanos(1_000));
                        }
                    });
                }
                wg.await();
                t.stop();
            });
        }
    }
}
