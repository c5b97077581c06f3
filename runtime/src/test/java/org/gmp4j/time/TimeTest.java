package org.gmp4j.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimeTest {
    private static final Duration LONG = Duration.ofSeconds(10_000);
    private static final Duration SHORT = Duration.ofNanos(1);
    private static final Duration MILLI = Duration.ofMillis(1);

    /** Runs {@code body} as a goroutine, as a plain thread and as a virtual thread of the JDK. */
    private static void everywhere(Threads.Body body) throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.call(() -> {
                try {
                    body.run();
                } catch (Throwable t) {
                    throw new AssertionError(t);
                }
                return null;
            });
        }
        new Threads().add("thread", body).run();
        Throwable[] failed = new Throwable[1];
        Thread.ofVirtual().start(() -> {
            try {
                body.run();
            } catch (Throwable t) {
                failed[0] = t;
            }
        }).join();
        if (failed[0] != null) {
            throw new AssertionError(failed[0]);
        }
    }

    /** Lets the time pass that the timer was set to. */
    private static void pass(Duration d) {
        long end = System.nanoTime() + d.toNanos();
        while (System.nanoTime() - end <= 0) {
            Thread.onSpinWait();
        }
    }

    private static void noTick(Chan<Instant> c) {
        assertNull(c.tryRecv());
        assertNull(c.tryRecvOk());
        assertEquals(0, c.len());
        assertEquals(0, c.cap());
    }

    /** Go: {@code TestChan}, of timers. */
    @Test
    void timerChannel() throws InterruptedException {
        everywhere(() -> {
            Timer t = Time.newTimer(LONG);
            noTick(t.c());
            assertTrue(t.reset(LONG), "reset of a running timer");
            assertTrue(t.stop(), "stop of a running timer");
            assertFalse(t.stop(), "stop of a stopped timer");
            assertFalse(t.reset(LONG), "reset of a stopped timer");
            noTick(t.c());

            t.reset(SHORT);
            pass(SHORT);
            assertEquals(0, t.c().len(), "a fired timer's channel looks empty");
            assertEquals(0, t.c().cap());
            assertTrue(t.stop(), "stop of a fired, unreceived timer");
            noTick(t.c());
            assertFalse(t.stop());

            assertFalse(t.reset(SHORT));
            pass(SHORT);
            assertTrue(t.reset(LONG), "reset of a fired, unreceived timer");
            noTick(t.c());

            t.reset(SHORT);
            pass(SHORT);
            assertNotNull(t.c().tryRecv(), "a fired timer's value");
            noTick(t.c());
            assertFalse(t.stop(), "stop of a received timer");
            assertFalse(t.reset(MILLI), "reset of a received timer");
            assertNotNull(t.c().recv());
            assertFalse(t.reset(Duration.ofSeconds(-1)));
            assertNotNull(t.c().tryRecv(), "a time in the past is now");
            assertFalse(t.stop());
        });
    }

    /** Go: {@code TestChan}, of tickers. */
    @Test
    void tickerChannel() throws InterruptedException {
        everywhere(() -> {
            Ticker t = Time.newTicker(LONG);
            noTick(t.c());
            t.reset(MILLI);
            assertNotNull(t.c().recv());
            assertNotNull(t.c().recv());
            pass(MILLI);
            t.stop();
            noTick(t.c());
            pass(MILLI);
            noTick(t.c());
            t.reset(MILLI);
            pass(Duration.ofMillis(20));
            t.reset(LONG);
            noTick(t.c());
            t.stop();
            t.reset(MILLI);
            assertNotNull(t.c().recv());
            t.stop();
        });
    }

    /** Ticks that nobody received are left out; the others keep their distance from the first. */
    @Test
    void missedTicksAreLeftOut() throws InterruptedException {
        everywhere(() -> {
            Duration period = Duration.ofMillis(5);
            Ticker t = Time.newTicker(period);
            pass(period.multipliedBy(4));
            Instant first = t.c().tryRecv();
            assertNotNull(first);
            assertNull(t.c().tryRecv(), "one tick for all that were missed");
            Instant second = t.c().recv();
            long periods = Math.round(Duration.between(first, second).toNanos() / (double) period.toNanos());
            assertTrue(periods >= 4, "the second tick comes " + periods + " periods after the first, which was due at once");
            t.stop();
        });
    }

    /** The value is the time when the timer was due, however late it is received. */
    @Test
    void theValueIsWhenItWasDue() throws InterruptedException {
        everywhere(() -> {
            Instant before = Instant.now();
            Timer t = Time.newTimer(MILLI);
            Instant after = Instant.now();
            pass(Duration.ofMillis(30));
            Instant at = t.c().recv();
            Duration slack = Duration.ofMillis(10); // The two clocks, read one after the other.
            assertFalse(at.isBefore(before.plus(MILLI).minus(slack)), at + " is before " + before);
            assertFalse(at.isAfter(after.plus(MILLI).plus(slack)), at + " is after " + after);
        });
    }

    @Test
    void afterAndTick() throws InterruptedException {
        everywhere(() -> {
            assertNotNull(Time.after(MILLI).recv());
            assertNotNull(Time.after(Duration.ZERO).recv());
            Chan<Instant> tick = Time.tick(MILLI);
            assertNotNull(tick.recv());
            assertNotNull(tick.recv());
            assertNull(Time.tick(Duration.ZERO));
            assertNull(Time.tick(Duration.ofNanos(-1)));
        });
    }

    @Test
    void texts() {
        assertEquals("non-positive interval for NewTicker",
                assertThrows(IllegalArgumentException.class, () -> Time.newTicker(Duration.ZERO)).getMessage());
        assertEquals("non-positive interval for NewTicker",
                assertThrows(IllegalArgumentException.class, () -> Time.newTicker(Duration.ofNanos(-1))).getMessage());
        Ticker t = Time.newTicker(LONG);
        assertEquals("non-positive interval for Ticker.Reset",
                assertThrows(IllegalArgumentException.class, () -> t.reset(Duration.ZERO)).getMessage());
        assertEquals("send to receive-only channel",
                assertThrows(IllegalStateException.class, () -> t.c().send(Instant.now())).getMessage());
        assertEquals("close of receive-only channel",
                assertThrows(IllegalStateException.class, () -> t.c().close()).getMessage());
        assertThrows(NullPointerException.class, () -> Time.afterFunc(MILLI, null));
        assertThrows(NullPointerException.class, () -> Time.newTimer(null));
        assertNull(Time.afterFunc(LONG, () -> { }).c());
    }

    /** Durations beyond 292 years do not overflow into the past. */
    @Test
    void almostForEver() throws InterruptedException {
        everywhere(() -> {
            Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
            AtomicInteger ran = new AtomicInteger();
            Timer f = Time.afterFunc(forever, ran::incrementAndGet);
            Timer t = Time.newTimer(forever);
            Ticker ticker = Time.newTicker(forever);
            noTick(t.c());
            noTick(ticker.c());
            assertEquals(0, ran.get());
            assertTrue(f.stop());
            assertTrue(t.stop());
        });
    }

    /** Go: {@code TestAfterStop}, {@code TestTimerStopStress}: a stopped function is not run, one that ran cannot be stopped. */
    @Test
    void afterFunc() throws InterruptedException {
        everywhere(() -> {
            CountDownLatch ran = new CountDownLatch(2);
            Timer again = Time.afterFunc(LONG, ran::countDown);
            AtomicInteger stopped = new AtomicInteger();
            Timer never = Time.afterFunc(LONG, stopped::incrementAndGet);
            assertTrue(never.stop());
            assertFalse(never.stop());
            assertTrue(again.reset(SHORT));
            while (ran.getCount() != 1) {
                Thread.yield();
            }
            assertFalse(again.stop());
            assertFalse(again.reset(SHORT));
            ran.await();
            Timer later = null;
            int late = 0;
            while (later == null) { // On a busy machine it may have run before it is set back.
                later = Time.afterFunc(Duration.ofMillis(20), stopped::incrementAndGet);
                if (!later.reset(LONG)) {
                    late++;
                    later.stop();
                    later = null;
                }
            }
            Time.after(Duration.ofMillis(60)).recv();
            assertTrue(later.stop());
            assertEquals(late, stopped.get());
        });
    }

    /** A function is started as a goroutine of the scheduler where its timer was made, whoever stops and resets it. */
    @Test
    void aFunctionRunsWhereItWasMade() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Chan<Boolean> in = Chan.make(1);
            Timer made = gmp.call(() -> Time.afterFunc(LONG, () -> in.send(Go.inGoroutine())));
            assertTrue(made.reset(SHORT)); // From a plain thread.
            assertTrue(in.recv());
            Timer outside = Time.afterFunc(LONG, () -> in.send(Go.inGoroutine()));
            gmp.run(() -> assertTrue(outside.reset(SHORT)));
            assertFalse(in.recv());
        }
    }

    /** What a closed scheduler leaves behind still fires. */
    @Test
    void timersOutliveTheirScheduler() {
        Chan<String> c = Chan.make(2);
        Timer[] t = new Timer[3];
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                t[0] = Time.afterFunc(Duration.ofMillis(400), () -> c.send("function"));
                t[1] = Time.newTimer(Duration.ofMillis(400));
                t[2] = Time.afterFunc(LONG, () -> c.send("late"));
            });
        }
        assertEquals("function", c.recv());
        assertNotNull(t[1].c().recv());
        assertFalse(t[0].stop());
        assertTrue(t[2].reset(SHORT));
        assertEquals("late", c.recv());
    }

    /** A goroutine, a thread and another scheduler's goroutine wait on one ticker: all are served. */
    @Test
    void oneTickerForAll() throws InterruptedException {
        try (TestGmp one = TestGmp.procs(1); TestGmp two = TestGmp.procs(1)) {
            Ticker t = one.call(() -> Time.newTicker(MILLI));
            Threads.Body five = () -> {
                for (int i = 0; i < 5; i++) {
                    assertNotNull(t.c().recv());
                }
            };
            new Threads().add("thread", five)
                    .add("one", () -> one.call(() -> receive(t, 5)))
                    .add("two", () -> two.call(() -> receive(t, 5)))
                    .run();
            t.stop();
        }
    }

    private static Object receive(Ticker t, int n) {
        for (int i = 0; i < n; i++) {
            assertNotNull(t.c().recv());
        }
        return null;
    }

    /** Who waits longer than the scheduler lives whose goroutine armed the timer. */
    @Test
    void aWaiterOutlivesTheSchedulerThatArmedTheTimer() throws InterruptedException {
        Timer t = Time.newTimer(LONG);
        Threads thread = new Threads().add("thread", () -> assertNotNull(t.c().recv())).start();
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Go.go(() -> t.reset(Duration.ofMillis(20)));
                Go.sleep(Duration.ofMillis(5));
            });
        }
        thread.join();
    }

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

    /** Go: {@code TestAfterFuncStarvation}: a ping-pong on one P does not keep functions from starting. */
    @Test
    void afterFuncStarvation() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                boolean[] stop = new boolean[1];
                WaitGroup wg = new WaitGroup();
                Runnable pingPong = () -> {
                    while (c.recv() != null && !stop[0]) {
                        c.send(1);
                    }
                    if (c.tryRecvOk() == null) {
                        c.close();
                    }
                };
                wg.go(pingPong);
                wg.go(() -> {
                    c.send(1);
                    pingPong.run();
                });
                Time.afterFunc(Duration.ofMillis(5), () -> stop[0] = true);
                wg.await();
            });
        }
    }

    /** Go: {@code TestTimerModifiedEarlier}: one set to earlier fires then, though its P slept until later. */
    @Test
    void timerModifiedEarlier() throws InterruptedException {
        everywhere(() -> {
            for (int i = 0; i < 20; i++) {
                Timer t = Time.newTimer(LONG);
                Chan<Instant> got = Chan.make();
                CountDownLatch waits = new CountDownLatch(1);
                Thread unused = Thread.ofVirtual().start(() -> {
                    waits.countDown();
                    got.send(t.c().recv());
                });
                waits.await();
                Time.after(MILLI).recv();
                assertTrue(t.reset(MILLI));
                assertNotNull(got.recv());
            }
        });
    }

    /** The same between goroutines: a sleeper in the poller is woken for the new time, by whoever sets it. */
    @Test
    void anEarlierTimerWakesTheSleeper() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Timer t = gmp.call(() -> Time.newTimer(LONG));
            for (int i = 0; i < 50; i++) {
                Chan<Instant> got = Chan.make();
                gmp.go(() -> got.send(t.c().recv()));
                gmp.run(() -> {
                    Go.sleep(Duration.ofNanos(200_000)); // The first now waits, and an M sleeps until its time.
                    t.reset(Duration.ofNanos(300_000));
                });
                assertNotNull(got.recv());
                t.reset(LONG);
            }
        }
    }

    /** A goroutine that does not yield sets a timer: the M that sleeps until a later one wakes and steals it. */
    @Test
    void aBusyPsTimerIsStolen() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            for (int i = 0; i < 20; i++) {
                gmp.run(() -> {
                    AtomicInteger ran = new AtomicInteger();
                    Timer far = Time.afterFunc(LONG, ran::incrementAndGet);
                    Go.sleep(MILLI); // The other M now sleeps until the far one is due.
                    Timer near = Time.afterFunc(MILLI, ran::incrementAndGet);
                    while (ran.get() == 0) {
                        Thread.onSpinWait();
                    }
                    far.stop();
                    assertFalse(near.stop());
                });
            }
        }
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

    /** Go: {@code TestAfterQueuing}: those due later come later. */
    @Test
    void afterQueuing() throws InterruptedException {
        everywhere(() -> {
            Duration unit = Duration.ofMillis(20);
            int[] slots = {5, 3, 6, 6, 6, 1, 1, 2, 7, 9, 4, 8, 0};
            record Result(int slot, Instant at) { }
            List<Result> results = new ArrayList<>();
            Chan<Result> c = Chan.make(slots.length);
            for (int slot : slots) {
                Thread unused = Thread.ofVirtual()
                        .start(() -> c.send(new Result(slot, Time.after(unit.multipliedBy(slot)).recv())));
            }
            for (int i = 0; i < slots.length; i++) {
                results.add(c.recv());
            }
            results.sort(java.util.Comparator.comparing(Result::at));
            for (int i = 1; i < results.size(); i++) {
                assertTrue(results.get(i - 1).slot() <= results.get(i).slot()
                        || Duration.between(results.get(i - 1).at(), results.get(i).at()).compareTo(unit) < 0,
                        results::toString); // The threads start one after the other, not at one moment.
            }
        });
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
        try (TestGmp gmp = TestGmp.with(b -> b.procs(4).deadlockDetection(true))) {
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

    /** Go: {@code TestMultiWakeupTimer}: as often as it is set, one of those who wait gets it. */
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

    /** Go: {@code TestTimerGC}: timers and tickers that nobody holds are collected, running or not. */
    @Test
    void timerGc() throws InterruptedException {
        everywhere(() -> {
            List<WeakReference<Object>> refs = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Timer t = Time.newTimer(LONG);
                Ticker ticker = Time.newTicker(i % 2 == 0 ? LONG : Duration.ofNanos(1_000));
                Chan<Instant> waited = Time.after(SHORT);
                waited.recv();
                Timer stopped = Time.afterFunc(LONG, new Object()::hashCode);
                stopped.stop();
                for (Object o : List.of(t, ticker, t.c(), ticker.c(), waited, stopped)) {
                    refs.add(new WeakReference<>(o));
                }
            }
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (refs.stream().anyMatch(r -> r.get() != null)) {
                System.gc();
                assertTrue(System.nanoTime() < end, "timers are not collected");
            }
        });
    }

    /** A million of each kind: made, set, some fired, all stopped. */
    @Test
    void aMillionLiveTimers() {
        int n = 1_000_000;
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                AtomicInteger ran = new AtomicInteger();
                Random random = new Random(1);
                Timer[] all = new Timer[n];
                for (int i = 0; i < n; i++) {
                    all[i] = Time.afterFunc(Duration.ofSeconds(1_000 + random.nextInt(100_000)), ran::incrementAndGet);
                }
                for (int i = 0; i < 1_000; i++) {
                    assertTrue(all[i * 1_000].reset(Duration.ofNanos(random.nextInt(1_000_000))));
                }
                while (ran.get() < 1_000) {
                    Go.sleep(MILLI);
                }
                for (int i = 0; i < n; i++) {
                    assertEquals(i % 1_000 != 0, all[i].stop());
                }
                assertEquals(1_000, ran.get());
            });
        }
    }

    /** Deadlocks and what is none. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            Gmp.main(() -> {
                switch (args[0]) {
                    case "unreceived" -> {
                        Timer t = Time.newTimer(Duration.ofSeconds(3_600));
                        Ticker ticker = Time.newTicker(MILLI);
                        Chan.make().recv();
                        t.stop();
                        ticker.stop();
                    }
                    case "stopped" -> {
                        Timer t = Time.newTimer(Duration.ofSeconds(3_600));
                        Go.go(() -> {
                            Go.gosched();
                            t.stop();
                        });
                        t.c().recv();
                    }
                    case "received once" -> {
                        Timer t = Time.newTimer(MILLI);
                        t.c().recv();
                        t.c().recv();
                    }
                    case "stopped function" -> {
                        Time.afterFunc(Duration.ofSeconds(3_600), () -> { }).stop();
                        Chan.make().recv();
                    }
                    case "function" -> {
                        Chan<Integer> c = Chan.make();
                        Time.afterFunc(Duration.ofMillis(300), () -> c.send(1));
                        c.recv();
                    }
                    case "ticker" -> {
                        Chan<Instant> tick = Time.tick(Duration.ofMillis(100));
                        tick.recv();
                        tick.recv();
                    }
                    case "outside" -> {
                        Chan<Integer> c = Chan.make();
                        Thread thread = Thread.ofPlatform().daemon()
                                .start(() -> Time.afterFunc(Duration.ofMillis(300), () -> c.send(1)));
                        try {
                            thread.join();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                        c.recv();
                    }
                    default -> throw new AssertionError(args[0]);
                }
                System.out.println("done");
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"unreceived", "stopped", "received once", "stopped function"})
    void deadlock(String program) {
        ChildJvm.Result r = new ChildJvm(Program.class).run(program);
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:"),
                r.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"function", "ticker", "outside"})
    void noDeadlock(String program) {
        ChildJvm.Result r = new ChildJvm(Program.class).run(program);
        assertEquals(0, r.exit(), r::toString);
        assertEquals("done\n", r.out());
    }
}
