// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.time;

import static org.gmp4j.testing.TestGmp.everywhere;
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

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The contract of {@link Time}, {@link Timer}, {@link Ticker}; Go's {@code time/sleep_test.go} and {@code tick_test.go}. */
class TimeTest {
    private static final Duration LONG = Duration.ofSeconds(10_000);
    private static final Duration SHORT = Duration.ofNanos(1);
    private static final Duration MILLI = Duration.ofMillis(1);

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

    /** Ticks without a receiver are left out; the others keep their distance from the first. */
    @Test
    void missedTicksAreLeftOut() throws InterruptedException {
        everywhere(() -> {
            Duration period = Duration.ofMillis(5);
            Ticker t = Time.newTicker(period);
            pass(period.multipliedBy(4));
            Instant first = t.c().tryRecv();
            assertNotNull(first);
            Instant second = t.c().recv(); // On a busy machine it may be there already, but not as one of those that were missed.
            long periods = Math.round(Duration.between(first, second).toNanos() / (double) period.toNanos());
            assertTrue(periods >= 4, "the second tick comes " + periods + " periods after the first, which was due at once");
            t.stop();
        });
    }

    /** The value is the time when the timer was due, however late it is received. */
    @Test
    void theValueIsWhenItWasDue() {
        Synctest.test(() -> {
            Instant start = Synctest.now();
            Timer t = Time.newTimer(MILLI);
            Ticker ticker = Time.newTicker(MILLI.multipliedBy(2));
            Go.sleep(MILLI.multipliedBy(30));
            assertEquals(start.plus(MILLI), t.c().recv());
            assertEquals(start.plus(MILLI.multipliedBy(2)), ticker.c().recv());
            assertEquals(start.plus(MILLI.multipliedBy(32)), ticker.c().recv());
            ticker.stop();
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

    /** Go: {@code TestAfterStop}, {@code TestTimerStopStress}: one that is stopped does not run, one that ran cannot be stopped. */
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

    /** Go: {@code TestAfterQueuing}: those due later come later. */
    @Test
    void afterQueuing() throws InterruptedException {
        everywhere(() -> {
            Duration unit = Duration.ofMillis(20);
            int[] slots = {5, 3, 6, 6, 6, 1, 1, 2, 7, 9, 4, 8, 0};
            record Result(Instant due, Instant at) { }
            List<Result> results = new ArrayList<>();
            Chan<Result> c = Chan.make(slots.length);
            for (int slot : slots) {
                Thread _ = Thread.ofVirtual().start(() -> {
                    Duration wait = unit.multipliedBy(slot);
                    c.send(new Result(Instant.now().plus(wait), Time.after(wait).recv()));
                });
            }
            for (int i = 0; i < slots.length; i++) {
                results.add(c.recv());
            }
            results.sort(java.util.Comparator.comparing(Result::at));
            for (int i = 1; i < results.size(); i++) {
                assertTrue(Duration.between(results.get(i).due(), results.get(i - 1).due()).compareTo(unit) < 0
                        || Duration.between(results.get(i - 1).at(), results.get(i).at()).compareTo(unit) < 0, results::toString);
            }
        });
    }

    /** Go: {@code TestTimerGC}: timers and tickers that nothing refers to are collected, running or not. */
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
}
