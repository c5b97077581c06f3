// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import org.gmp4j.context.Context;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;

/** Selects on the channels of timers and contexts. */
class SelectTimerTest {
    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration MILLI = Duration.ofMillis(1);

    private static int first(Chan<?>... channels) {
        Select s = Select.of();
        for (Chan<?> c : channels) {
            s.recv(c, v -> { });
        }
        return s.run();
    }

    /** Of two timers the earlier ends the wait; from a goroutine and from a thread. */
    @Test
    void twoTimers() throws InterruptedException {
        Threads.Body body = () -> {
            for (int i = 0; i < 20; i++) {
                assertEquals(1, first(Time.after(LONG), Time.after(MILLI), Chan.make()));
                Context c = Context.background().withTimeout(MILLI);
                assertEquals(0, first(c.done(), Time.after(LONG)));
            }
        };
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                try {
                    body.run();
                } catch (Throwable t) {
                    throw new AssertionError(t);
                }
            });
        }
        new Threads().add("thread", body).run();
    }

    /** A default is taken while the timer is not due, and then not; a send to a timer's channel is refused. */
    @Test
    void orElse() {
        Timer t = Time.newTimer(LONG);
        Instant[] got = new Instant[1];
        Select s = Select.of().recv(t.c(), v -> got[0] = v).recv(Chan.make(), v -> { }).orElse(() -> { });
        assertEquals(-1, s.run());
        t.reset(Duration.ZERO);
        assertEquals(0, s.run());
        assertTrue(got[0] != null);
        assertEquals(-1, s.run());
        assertThrows(IllegalStateException.class, () -> Select.of().send(t.c(), Instant.now(), () -> { }));
    }

    /** Selects on one ticker, by many. */
    @Stress
    void oneTicker() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                Ticker t = Time.newTicker(Duration.ofNanos(2_000));
                Chan<Integer> other = Chan.make();
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 8; i++) {
                    int id = i;
                    wg.go(() -> {
                        int ticks = 0;
                        while (ticks < 300) {
                            Select s = Select.of().recv(t.c(), v -> { }).recv(other, v -> { });
                            if (id % 2 == 0) {
                                s.orElse(Go::gosched);
                            }
                            ticks += s.run() == 0 ? 1 : 0;
                        }
                    });
                }
                wg.await();
                t.stop();
            });
        }
    }

    /** Go: {@code TestStopResult}, {@code TestResetResult}: of two timers one is received, the other stopped or received. */
    @Stress
    void stopAndResetResult() {
        stopOrReset(Timer::stop);
        stopOrReset(t -> t.reset(LONG));
    }

    private static void stopOrReset(Predicate<Timer> how) {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 1_000; i++) {
                    wg.go(() -> {
                        for (int j = 0; j < 10; j++) {
                            Timer a = Time.newTimer(MILLI);
                            Timer b = Time.newTimer(MILLI);
                            Timer other = first(a.c(), b.c()) == 0 ? b : a;
                            if (!how.test(other)) {
                                throw new AssertionError("nobody received it, and it was not stopped");
                            }
                            assertNull(other.c().tryRecv());
                            other.stop();
                        }
                    });
                }
                wg.await();
            });
        }
    }

    /** The timer of a case that was not taken is in no heap any more: it is garbage. */
    @Test
    void aTimerLeftIsGarbage() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                List<WeakReference<Object>> refs = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    Chan<Instant> late = Time.after(LONG);
                    assertEquals(1, first(late, Time.after(Duration.ofNanos(20_000))));
                    refs.add(new WeakReference<>(late));
                }
                Go.sleep(MILLI);
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                while (refs.stream().filter(r -> r.get() != null).count() > 1) { // One may still be on the stack.
                    System.gc();
                    assertTrue(System.nanoTime() < end, "timers are not collected");
                }
            });
        }
    }

    /** In a bubble a select waits durably. */
    @Test
    void inABubble() {
        Synctest.test(() -> {
            Ticker t = Time.newTicker(Duration.ofSeconds(1));
            Chan<Instant> end = Time.after(Duration.ofSeconds(10).plusNanos(1));
            int[] ticks = new int[1];
            boolean[] done = new boolean[1];
            Select s = Select.of().recv(t.c(), v -> ticks[0]++).recv(end, v -> done[0] = true);
            while (!done[0]) {
                s.run();
            }
            assertEquals(10, ticks[0]);
        });
    }
}
