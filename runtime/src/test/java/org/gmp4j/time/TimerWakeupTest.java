// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.time;

import static org.gmp4j.testing.TestGmp.everywhere;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What sees that a timer is due: Ps that sleep or are busy, the thread outside when there is no P, and nobody, which is a
 * deadlock or none; Go's {@code time/sleep_test.go}.
 */
class TimerWakeupTest {
    private static final Duration LONG = Duration.ofSeconds(10_000);
    private static final Duration SHORT = Duration.ofNanos(1);
    private static final Duration MILLI = Duration.ofMillis(1);

    /** A function is started as a goroutine of the scheduler where its timer was made, whichever thread stops and resets it. */
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

    /** A wait that is longer than the life of the scheduler whose goroutine armed the timer. */
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
                Thread _ = Thread.ofVirtual().start(() -> {
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

    /** A sleeper in the poller is woken for the new time by the goroutine that sets it. */
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
                    case "stopped while an M sleeps for it" -> {
                        Timer t = Time.newTimer(Duration.ofSeconds(3_600));
                        Go.go(() -> {
                            long sched = GStack.current().scheduler().sched;
                            while (Schedt.POLLUNTIL.getVolatile(sched) == 0) {
                                Thread.onSpinWait();
                            }
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
    @ValueSource(strings = {"unreceived", "stopped", "stopped while an M sleeps for it", "received once", "stopped function"})
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
