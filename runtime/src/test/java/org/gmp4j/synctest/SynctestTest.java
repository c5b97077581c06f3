// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.synctest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.context.Context;
import org.gmp4j.struct.OffHeap;
import org.gmp4j.struct.Struct;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class SynctestTest {
    private static final Instant START = Instant.parse("2000-01-01T00:00:00Z");

    private static Duration passed() {
        return Duration.between(START, Synctest.now());
    }

    /** Go: {@code TestNow}, {@code TestTimeSleep}: the clock stands still but for sleeps, and those take no time. */
    @Test
    void sleepsTakeNoTime() {
        long begin = System.nanoTime();
        Synctest.test(() -> {
            assertEquals(START, Synctest.now());
            Go.sleep(Duration.ofDays(365));
            assertEquals(Duration.ofDays(365), passed());
            Go.sleep(Duration.ofNanos(1));
            assertEquals(Duration.ofDays(365).plusNanos(1), passed());
        });
        assertTrue(System.nanoTime() - begin < Duration.ofHours(1).toNanos());
    }

    /** Go: {@code TestWait}: after it the others are blocked, and the clock has not moved. */
    @Test
    void await() {
        Synctest.test(() -> {
            boolean[] done = new boolean[1];
            Chan<Integer> c = Chan.make();
            Go.go(() -> {
                c.recv();
                for (int i = 0; i < 100; i++) {
                    Go.gosched();
                }
                done[0] = true;
                Go.sleep(Duration.ofSeconds(1));
                done[0] = false;
            });
            Synctest.await();
            assertFalse(done[0]);
            c.send(1);
            Synctest.await();
            assertTrue(done[0]);
            assertEquals(Duration.ZERO, passed());
            Go.sleep(Duration.ofSeconds(1));
            Synctest.await();
            assertFalse(done[0]);
        });
    }

    @Test
    void timers() {
        Synctest.test(() -> {
            Timer t = Time.newTimer(Duration.ofSeconds(10));
            Go.sleep(Duration.ofSeconds(10).minusNanos(1));
            assertNull(t.c().tryRecv());
            Go.sleep(Duration.ofNanos(1));
            assertEquals(START.plusSeconds(10), t.c().tryRecv());
            assertFalse(t.reset(Duration.ofHours(1)));
            assertEquals(START.plusSeconds(3_610), t.c().recv());

            List<Duration> ran = new ArrayList<>();
            Timer f = Time.afterFunc(Duration.ofSeconds(5), () -> ran.add(passed()));
            Go.sleep(Duration.ofSeconds(4));
            assertTrue(f.reset(Duration.ofSeconds(5)));
            Go.sleep(Duration.ofSeconds(5));
            Synctest.await();
            assertEquals(List.of(Duration.ofSeconds(3_619)), ran);
        });
    }

    /** Ticks come to the nanosecond; those missed are left out. */
    @Test
    void tickers() {
        Synctest.test(() -> {
            Ticker t = Time.newTicker(Duration.ofSeconds(3));
            assertEquals(START.plusSeconds(3), t.c().recv());
            assertEquals(START.plusSeconds(6), t.c().recv());
            Go.sleep(Duration.ofSeconds(10)); // 16: 9, 12 and 15 are due.
            assertEquals(START.plusSeconds(9), t.c().recv());
            assertEquals(START.plusSeconds(18), t.c().recv());
            t.stop();
        });
    }

    @Test
    void contexts() {
        Synctest.test(() -> {
            Context c = Context.background().withTimeout(Duration.ofSeconds(5));
            assertEquals(START.plusSeconds(5), c.deadline());
            Context d = Context.background().withDeadline(START.plusSeconds(6));
            List<Duration> ran = new ArrayList<>();
            d.afterFunc(() -> ran.add(passed()));
            Go.sleep(Duration.ofSeconds(5).minusNanos(1));
            Synctest.await();
            assertNull(c.err());
            Go.sleep(Duration.ofNanos(1));
            Synctest.await();
            assertSame(Context.DEADLINE_EXCEEDED, c.err());
            assertNull(d.err());
            assertFalse(d.done().recvOk().ok());
            Synctest.await();
            assertEquals(List.of(Duration.ofSeconds(6)), ran);
        });
    }

    /** Many sleepers: they wake in the order of their times, each at its own, on several Ps. */
    @Test
    void manySleepers() {
        Synctest.test(() -> {
            Random random = new Random(1);
            WaitGroup wg = new WaitGroup();
            List<Duration> woke = java.util.Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < 2_000; i++) {
                Duration d = Duration.ofNanos(1 + random.nextInt(1_000_000_000));
                wg.go(() -> {
                    Go.sleep(d);
                    assertEquals(d, passed());
                    woke.add(d);
                });
            }
            wg.await();
            List<Duration> sorted = new ArrayList<>(woke);
            sorted.sort(null);
            assertEquals(sorted, woke);
            assertEquals(2_000, woke.size());
        });
    }

    /** While two hand over to each other the clock stands still, though one of them always waits. */
    @Test
    void handOvers() {
        Synctest.test(() -> {
            WaitGroup wg = new WaitGroup();
            for (int pair = 0; pair < 4; pair++) {
                Chan<Duration> there = Chan.make();
                Chan<Duration> back = Chan.make();
                wg.go(() -> {
                    for (Duration d : there) {
                        back.send(d);
                    }
                });
                wg.go(() -> {
                    for (int i = 0; i < 5_000; i++) {
                        there.send(passed());
                        assertEquals(Duration.ZERO, back.recv());
                    }
                    there.close();
                });
            }
            Go.sleep(Duration.ofSeconds(1));
            wg.await();
            assertEquals(Duration.ofSeconds(1), passed());
        });
    }

    /** A goroutine in the JDK is not durably blocked: the clock waits for it. */
    @Test
    void theClockWaitsForTheJdk() {
        Synctest.test(() -> {
            CountDownLatch latch = new CountDownLatch(1);
            AtomicInteger seen = new AtomicInteger();
            Go.go(() -> {
                try {
                    Thread.sleep(30);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                assertEquals(Duration.ZERO, passed());
                seen.set(1);
                latch.countDown();
            });
            Go.sleep(Duration.ofSeconds(1));
            assertEquals(1, seen.get());
        });
    }

    /** Timers on a clock that moves by itself, beside a model, exact to the nanosecond: Go: {@code TestTimerFromInsideBubble}. */
    @Test
    void randomTimers() {
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            Synctest.test(() -> {
                List<String> expected = new ArrayList<>();
                List<String> got = java.util.Collections.synchronizedList(new ArrayList<>());
                for (int i = 0; i < 50; i++) {
                    int id = i;
                    Timer t = Time.afterFunc(Duration.ofSeconds(random.nextInt(100)),
                            () -> got.add(passed().toSeconds() + " " + id));
                    int at = 1 + random.nextInt(100);
                    assertTrue(t.reset(Duration.ofSeconds(at)));
                    if (random.nextInt(3) == 0) {
                        assertTrue(t.stop());
                    } else {
                        expected.add(at + " " + id);
                    }
                }
                Go.sleep(Duration.ofSeconds(200));
                expected.sort(null);
                got.sort(null);
                assertEquals(expected, got);
            });
        }
    }

    private static String deadlock(Runnable f) {
        return assertThrows(IllegalStateException.class, () -> Synctest.test(f)).getMessage();
    }

    /** Go: {@code TestDeadlockRoot}. */
    @Test
    void deadlockRoot() {
        String text = deadlock(() -> Chan.make().recv());
        assertTrue(text.startsWith("deadlock: all goroutines in bubble are blocked\n\ngoroutine 1 [chan receive (durable)]:"), text);
    }

    /** Go: {@code TestDeadlockChild}. */
    @Test
    void deadlockChild() {
        String text = deadlock(() -> Go.go(() -> Chan.make().recv()));
        assertTrue(text.startsWith("deadlock: main bubble goroutine has exited but blocked goroutines remain\n\ngoroutine "), text);
    }

    /** Go: {@code TestDeadlockTicker}: no time passes once the first goroutine has ended, and so what waits for time waits for ever. */
    @ParameterizedTest
    @ValueSource(strings = {"ticker", "sleep", "once", "context", "func"})
    void deadlockTicker(String what) {
        AtomicInteger ticks = new AtomicInteger();
        String text = deadlock(() -> {
            Runnable waits = switch (what) {
                case "ticker" -> () -> {
                    for (Instant _ : Time.newTicker(Duration.ofSeconds(1)).c()) {
                        ticks.incrementAndGet();
                    }
                };
                case "sleep" -> () -> {
                    for (;;) {
                        Go.sleep(Duration.ofMinutes(1));
                        ticks.incrementAndGet();
                    }
                };
                case "once" -> () -> {
                    Go.sleep(Duration.ofHours(1));
                    ticks.incrementAndGet();
                };
                case "context" -> () -> {
                    for (;;) {
                        try (Context c = Context.background().withTimeout(Duration.ofSeconds(5))) {
                            c.done().recv();
                            ticks.incrementAndGet();
                        }
                    }
                };
                default -> () -> {
                    Time.afterFunc(Duration.ofSeconds(1), ticks::incrementAndGet);
                    Chan.make().recv();
                };
            };
            Go.go(waits);
        });
        assertTrue(text.startsWith("deadlock: main bubble goroutine has exited but blocked goroutines remain"), text);
        assertEquals(0, ticks.get());
    }

    /** What is to be done without time is done after the first goroutine has ended, and timers that are left fire no more. */
    @Test
    void afterMain() {
        List<String> done = java.util.Collections.synchronizedList(new ArrayList<>());
        Synctest.test(() -> {
            Chan<Integer> c = Chan.make();
            Go.go(() -> {
                Synctest.await();
                done.add("waited");
                c.send(1);
            });
            Go.go(() -> {
                c.recv();
                done.add("received");
            });
            Time.afterFunc(Duration.ofSeconds(1), () -> done.add("fired"));
        });
        assertEquals(List.of("waited", "received"), done);
    }

    /** A bubble that has ended leaves no memory behind. */
    @Test
    void leavesNothing() {
        Runnable bubble = () -> Synctest.test(() -> Go.sleep(Duration.ofSeconds(1)));
        bubble.run();
        long taken = OffHeap.taken(Struct.P);
        for (int i = 0; i < 20; i++) {
            bubble.run();
        }
        assertEquals(taken, OffHeap.taken(Struct.P));
    }

    @Test
    void failuresComeOut() {
        assertEquals("main", assertThrows(AssertionError.class, () -> Synctest.test(() -> {
            throw new AssertionError("main");
        })).getMessage());
        assertEquals("child", assertThrows(AssertionError.class, () -> Synctest.test(() -> {
            Go.go(() -> {
                throw new AssertionError("child");
            });
            Chan.make().recv();
        })).getMessage());
    }

    /** What one throws comes out although another waits for it in a way that stops the clock, or never waits at all. */
    @ParameterizedTest
    @ValueSource(strings = {"latch", "mutex", "loop"})
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aFailureIsNotWaitedFor(String how) {
        CountDownLatch latch = new CountDownLatch(1);
        Mutex mutex = new Mutex();
        AtomicInteger stop = new AtomicInteger();
        AssertionError failure = new AssertionError("child");
        assertSame(failure, assertThrows(AssertionError.class, () -> Synctest.test(() -> {
            Chan<Integer> locked = Chan.make();
            Go.go(() -> {
                mutex.lock();
                locked.send(1);
                throw failure;
            });
            locked.recv();
            switch (how) {
                case "latch" -> await(latch);
                case "mutex" -> mutex.lock();
                default -> {
                    while (stop.get() == 0) {
                        Thread.onSpinWait();
                    }
                }
            }
        })));
        latch.countDown(); // Lets the one go that was left behind.
        mutex.unlock();
        stop.set(1);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** What is deferred runs in the bubble, and a goroutine may end by goexit. */
    @Test
    void deferredWorkCounts() {
        Synctest.test(() -> {
            WaitGroup wg = new WaitGroup();
            wg.go(() -> {
                Go.defer(() -> {
                    Go.sleep(Duration.ofSeconds(1));
                    assertEquals(Duration.ofSeconds(1), passed());
                });
                Go.goexit();
            });
            wg.await();
        });
    }

    @Test
    void misuse() {
        assertEquals("goroutine is not in a bubble",
                assertThrows(IllegalStateException.class, Synctest::await).getMessage());
        assertEquals("goroutine is not in a bubble", assertThrows(IllegalStateException.class, Synctest::now).getMessage());
        assertThrows(NullPointerException.class, () -> Synctest.test(null));
        Synctest.test(() -> {
            assertThrows(IllegalStateException.class, () -> Synctest.test(() -> { }));
            Go.go(Synctest::await);
            Go.go(() -> {
                Go.sleep(Duration.ofSeconds(1));
                Synctest.await();
            });
            Go.sleep(Duration.ofSeconds(2));
        });
    }

    /** Waiting for a Cond is durable, waiting for its Mutex is not. */
    @Test
    void condIsDurable() {
        Synctest.test(() -> {
            Mutex m = new Mutex();
            Cond c = new Cond(m);
            boolean[] set = new boolean[1];
            Go.go(() -> {
                Go.sleep(Duration.ofHours(1));
                m.lock();
                set[0] = true;
                m.unlock();
                c.signal();
            });
            m.lock();
            while (!set[0]) {
                c.await();
            }
            m.unlock();
            assertEquals(Duration.ofHours(1), passed());
        });
    }

    /** An ErrGroup's limit waits for a Semaphore. */
    @Test
    void errGroupWithALimit() {
        Synctest.test(() -> {
            ErrGroup g = new ErrGroup();
            g.setLimit(1);
            for (int i = 0; i < 3; i++) {
                g.go(() -> Go.sleep(Duration.ofSeconds(1)));
            }
            try {
                g.await();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            assertEquals(Duration.ofSeconds(3), passed());
        });
    }

    /** One of two that wait at once is refused, never forgotten. */
    @Test
    void twoThatWait() {
        for (int i = 0; i < 200; i++) {
            AtomicInteger refused = new AtomicInteger();
            Synctest.test(() -> {
                WaitGroup wg = new WaitGroup();
                for (int j = 0; j < 2; j++) {
                    wg.go(() -> {
                        try {
                            Synctest.await();
                        } catch (IllegalStateException e) {
                            refused.incrementAndGet();
                        }
                    });
                }
                wg.await();
            });
            assertTrue(refused.get() <= 1);
        }
    }
}
