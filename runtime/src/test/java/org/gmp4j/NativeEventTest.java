// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.sysmon.DeepSleeper;
import org.gmp4j.sysmon.Unwatched;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link NativeEvent} and {@code gmp_ready}. The real C library is in {@code bench/examples/Sensor.java}. */
@SuppressWarnings("restricted") // The function's address.
class NativeEventTest {
    private static final int FIRES = 3_000;

    /** By the address that C code gets. */
    private static final MethodHandle READY = Linker.nativeLinker().downcallHandle(NativeEvent.function(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));

    private static int ready(MemorySegment event) {
        try {
            return (int) READY.invokeExact(event.address());
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** From Java, for tests of others. */
    static void fire(NativeEvent event) {
        int _ = ready(event.address());
    }

    /** Fires and limits of time race: each fire is seen once, by a wait that it ends or by the next. */
    @Stress
    void firesAndEndings() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2); NativeEvent event = new NativeEvent()) {
            AtomicInteger seen = new AtomicInteger();
            AtomicInteger ended = new AtomicInteger();
            Threads threads = new Threads().add("fires", () -> {
                for (int i = 1; i <= FIRES; i++) {
                    int _ = ready(event.address());
                    while (seen.get() < i) {
                        Thread.yield();
                    }
                }
            }).start();
            Thread waiter = gmp.gmp.threadFactory().newThread(() -> {
                while (seen.get() < FIRES) {
                    try {
                        if (seen.get() % 2 == 0 ? event.awaitWithin(Duration.ofNanos(20_000)) : awaitInterruptibly(event)) {
                            seen.incrementAndGet();
                        } else {
                            ended.incrementAndGet();
                        }
                    } catch (WaitInterruptedException e) {
                        ended.incrementAndGet();
                        boolean _ = Thread.interrupted();
                    }
                }
            });
            waiter.start();
            while (waiter.isAlive()) {
                waiter.interrupt();
                Thread.onSpinWait();
            }
            threads.join();
            assertEquals(FIRES, seen.get());
            assertTrue(ended.get() > 0, "no wait was ended");
            gmp.run(() -> assertFalse(event.awaitWithin(Duration.ZERO), "a fire was seen twice"));
            gmp.check();
        }
    }

    /**
     * Beside goroutines that a thread has started, one that C code readies runs next, even if sysmon gets no CPU. The others end, or yield
     * to each other.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void besideStarted(boolean yield) throws InterruptedException {
        int n = 1000;
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        CountDownLatch waits = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch queued = new CountDownLatch(1);
        try (Unwatched gmp = new Unwatched(1, 10_000_000_000L, Netpoll.NONE); NativeEvent event = new NativeEvent()) {
            Newproc.newproc(gmp.s, () -> {
                waits.countDown();
                event.await();
                seen.set(ran.get());
            });
            waits.await();
            Newproc.newproc(gmp.s, () -> {
                held.countDown();
                while (queued.getCount() != 0) {
                    Thread.onSpinWait();
                }
            });
            held.await();
            for (int i = 0; i < n; i++) {
                Newproc.newproc(gmp.s, () -> {
                    if (ran.incrementAndGet() == n / 2) {
                        fire(event);
                    }
                    if (yield) {
                        Go.gosched();
                    }
                });
            }
            queued.countDown();
        }
        assertEquals(n / 2, seen.get(), 1);
    }

    private static boolean awaitInterruptibly(NativeEvent event) {
        try {
            event.awaitInterruptibly();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** What ends a wait comes before the goroutine is parked to the end. */
    @Test
    void aWaitThatEndsAsItBegins() {
        try (TestGmp gmp = TestGmp.procs(2); NativeEvent event = new NativeEvent()) {
            gmp.run(() -> {
                for (int i = 0; i < 100; i++) {
                    assertFalse(event.awaitWithin(Duration.ofNanos(1)));
                }
            });
        }
    }

    /**
     * C code knows nothing of a bubble: while a goroutine of the bubble waits for it, the bubble's clock stands still, and a limit of time
     * goes by the machine's.
     */
    @Test
    void inABubble() {
        try (NativeEvent event = new NativeEvent()) {
            Synctest.test(() -> {
                AtomicBoolean moved = new AtomicBoolean();
                Timer later = Time.afterFunc(Duration.ofHours(2), () -> moved.set(true));
                assertFalse(event.awaitWithin(Duration.ofMillis(1)));
                Go.go(() -> {
                    TestGmp.awaitOthers();
                    assertEquals(1, ready(event.address()));
                });
                assertTrue(event.awaitWithin(Duration.ofDays(1)));
                for (int i = 0; i < 1_000; i++) {
                    Go.gosched();
                }
                boolean still = !moved.get();
                boolean _ = later.stop();
                assertTrue(still, "the clock has moved on");
            });
        }
    }

    /** The process has been idle for long. */
    @Test
    void wokenFromALongSleep() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1); NativeEvent event = new NativeEvent()) {
            CountDownLatch done = new CountDownLatch(1);
            gmp.go(() -> {
                event.await();
                done.countDown();
            });
            DeepSleeper sleeper = DeepSleeper.of(gmp.gmp.s);
            assertEquals(1, ready(event.address()));
            done.await();
            assertTrue(sleeper.wasRung());
        }
    }

    /** Fires without a waiter count as one, and the next wait returns at once. */
    @Test
    void firedBefore() {
        try (TestGmp gmp = TestGmp.procs(1); NativeEvent event = new NativeEvent()) {
            gmp.run(() -> {
                assertEquals(0, ready(event.address()));
                assertEquals(0, ready(event.address()));
                event.await();
                AtomicBoolean again = new AtomicBoolean();
                Go.go(() -> {
                    again.set(true);
                    assertEquals(1, ready(event.address()));
                });
                event.await();
                assertTrue(again.get());
            });
        }
    }

    /** A thread that is no M wakes the goroutine: by sysmon's note, or sysmon finds it at its next look. */
    @Test
    void wokenByAThread() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); NativeEvent event = new NativeEvent()) {
            AtomicBoolean stop = new AtomicBoolean();
            gmp.go(() -> {
                while (!stop.get()) {
                    event.await();
                }
            });
            for (int i = 0; i < 5; i++) {
                while (ready(event.address()) == 0) {
                    Thread.sleep(1); // It does not wait yet, or again.
                }
            }
            stop.set(true);
            int _ = ready(event.address());
        }
    }

    /** Also while sysmon sleeps deeply: of several such calls one at least ends sooner than the light sleep that would follow. */
    @Test
    void wokenFromADeepSleep() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); NativeEvent event = new NativeEvent()) {
            AtomicLong woke = new AtomicLong();
            long sched = gmp.scheduler().sched;
            gmp.go(() -> {
                for (int i = 0; i < 10; i++) {
                    event.await();
                    woke.set(System.nanoTime());
                }
            });
            long soonest = Long.MAX_VALUE;
            for (int i = 0; i < 10; i++) {
                while (Schedt.SYSMONWAIT.getVolatile(sched) != Schedt.SYSMON_SLEEPS) {
                    Thread.sleep(1);
                }
                woke.set(0);
                long start = System.nanoTime();
                int _ = ready(event.address());
                while (woke.get() == 0) {
                    Thread.onSpinWait();
                }
                soonest = Math.min(soonest, woke.get() - start);
            }
            assertTrue(soonest < 1_000_000, soonest + " ns");
        }
    }

    /**
     * A thread writes and fires, its goroutine waits and looks, in lockstep: what was written before the fire is seen, and
     * the next fire comes just when the goroutine parks again. Four such pairs at once, so that the list of
     * those that were readied has many pushers.
     */
    @Stress
    void nothingIsLost() throws InterruptedException {
        int pairs = 4;
        try (TestGmp gmp = TestGmp.procs(2)) {
            WaitGroup done = new WaitGroup();
            List<NativeEvent> all = new ArrayList<>();
            Threads threads = new Threads();
            for (int e = 0; e < pairs; e++) {
                NativeEvent event = new NativeEvent();
                all.add(event);
                int[] written = new int[1];
                AtomicInteger seen = new AtomicInteger();
                done.add(1);
                gmp.go(() -> {
                    while (seen.get() < FIRES) {
                        event.await();
                        seen.set(written[0]);
                    }
                    done.done();
                });
                threads.add("fires", () -> {
                    for (int i = 1; i <= FIRES; i++) {
                        written[0] = i;
                        int _ = ready(event.address());
                        while (seen.get() < i) {
                            Thread.yield();
                        }
                    }
                });
            }
            threads.run();
            done.await();
            all.forEach(NativeEvent::close);
            gmp.check();
        }
    }

    @Test
    void oneWaitsAtATime() {
        try (TestGmp gmp = TestGmp.procs(1); NativeEvent event = new NativeEvent()) {
            gmp.run(() -> {
                WaitGroup first = new WaitGroup();
                first.go(event::await);
                TestGmp.awaitOthers();
                String message = assertThrows(IllegalStateException.class, event::await).getMessage();
                assertEquals("another goroutine waits for this event", message);
                assertEquals(1, ready(event.address()));
                first.await();
            });
        }
    }

    @Test
    void notOnAThread() {
        try (NativeEvent event = new NativeEvent()) {
            assertThrows(IllegalStateException.class, event::await);
        }
    }

    /** A goroutine that waits for C code is not dead. */
    public static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            NativeEvent event = new NativeEvent();
            Gmp.main(() -> {
                Thread fires = new Thread(() -> {
                    try {
                        Thread.sleep(500); // Checkdead looks a few times.
                    } catch (InterruptedException e) {
                        return;
                    }
                    int _ = ready(event.address());
                });
                fires.setDaemon(true);
                fires.start();
                event.await();
                System.out.println("woken");
            });
        }
    }

    @Test
    void noDeadlock() {
        ChildJvm.Result r = new ChildJvm(Program.class).run();
        assertEquals("woken\n", r.out(), r.err());
        assertEquals(0, r.exit(), r.err());
    }
}
