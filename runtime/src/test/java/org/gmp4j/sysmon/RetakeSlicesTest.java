// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.gmp4j.sysmon.RetakeScans.QUANTUM;
import static org.gmp4j.sysmon.RetakeScans.retake;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link Retake}: how long a time slice lasts, and what it counts. */
class RetakeSlicesTest {
    private static final int MAX_TRIES = 20;
    private static final long PATIENCE = 10_000_000_000L;
    private static final int ASKED = 20;

    private static volatile int sink;

    /** A slice is the quantum divided by the goroutines that wait, and at least the least slice. */
    @Test
    void theMoreWaitTheShorterASlice() throws InterruptedException {
        long second = 1_000_000_000;
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofSeconds(5), QUANTUM))) {
            Retake retake = retake(gmp.scheduler());
            for (int waiting : new int[] {0, 1, 6}) {
                AtomicBoolean end = new AtomicBoolean();
                CountDownLatch runs = new CountDownLatch(1);
                CountDownLatch ended = new CountDownLatch(waiting);
                gmp.go(() -> {
                    GStack st = GStack.enter(); // Sysmon cannot take its P now.
                    for (int i = 0; i < waiting; i++) {
                        Go.go(ended::countDown);
                    }
                    runs.countDown();
                    while (!end.get()) {
                        Thread.onSpinWait();
                    }
                    GStack.exit(st);
                });
                runs.await();
                long now = System.nanoTime();
                boolean _ = retake.look(now);
                long until = retake.seen.untilOver(now);
                end.set(true);
                long slice = QUANTUM.toNanos() / Math.max(1, waiting);
                assertTrue(until <= slice && until > slice - 2 * second, waiting + " wait: over in " + until + " ns");
                assertEquals(slice, retake.seen.shortestSlice);
                ended.await(); // They would count the next time.
            }
            retake.close();
        }
    }

    /**
     * A goroutine that no point stops loses its P when its short slice is over, not after a whole quantum. One whose thread sleeps, for
     * a collection or the like, loses it for that: it is tried again.
     */
    @Test
    void aShortSliceEndsWithoutAPoint() {
        int waiting = 2_000;
        byte[] bytes = new byte[1 << 12];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(10), QUANTUM))) {
            long ran = 0;
            for (int i = 0; i < MAX_TRIES && ran == 0; i++) {
                CountDownLatch left = new CountDownLatch(waiting);
                ran = gmp.call(() -> {
                    for (int k = 0; k < waiting; k++) {
                        Go.go(left::countDown);
                    }
                    long end = System.nanoTime() + QUANTUM.toNanos() / 6;
                    while (left.getCount() != 0 && System.nanoTime() - end < 0) {
                        sink = Arrays.hashCode(bytes);
                    }
                    assertEquals(0, left.getCount());
                    return Stalls.of(Machine.current().s).ran();
                });
            }
            assertTrue(ran > 0, "it lost its P as its thread slept, each time");
        }
    }

    /** A slice counts what its thread ran, not what it waited for a CPU behind other threads. */
    @Test
    void aSliceIsCpuTime() {
        long ms = 1_000_000;
        WatchedM w = new WatchedM();
        w.began(1, 0, 100 * ms);
        assertEquals(0, w.used());
        w.began(1, 20 * ms, 100 * ms);
        assertEquals(0, w.used(), "it slept");
        w.began(1, 22 * ms, 102 * ms);
        assertEquals(2 * ms, w.used());
        w.began(2, TimeUnit.HOURS.toNanos(1), 103 * ms);
        assertEquals(ms, w.used(), "this slice has had no more than since the last scan");
        w.began(3, 2 * ms, 107 * ms);
        assertEquals(2 * ms, w.used(), "before the first scan of a slice it had a CPU, if the thread had one");
        w.began(3, 3 * ms, TimeUnit.HOURS.toNanos(1));
        assertEquals(3 * ms, w.used(), "the clock is another one");
        w.began(3, 4 * ms, 50 * ms);
        assertEquals(4 * ms, w.used(), "and again");
        w.renew();
        w.began(4, 2 * ms, 51 * ms);
        assertEquals(2 * ms, w.used(), "the thread is another one");
    }

    /** Goroutines whose thread seldom has a CPU are asked to yield as often as its CPU time says, and not as the clock does. */
    @Test
    void whoHasNoCpuIsNotAsked() throws InterruptedException {
        long quantum = 10_000_000;
        AtomicBoolean stop = new AtomicBoolean();
        List<Thread> spinners = IntStream.range(0, 6 * Runtime.getRuntime().availableProcessors())
                .mapToObj(_ -> new Thread(() -> spin(stop))).toList();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofNanos(quantum)))) {
            long sched = gmp.scheduler().sched;
            CountDownLatch ended = new CountDownLatch(2);
            spinners.forEach(Thread::start);
            for (int i = 0; i < 2; i++) {
                gmp.go(() -> {
                    while (!stop.get()) {
                        GStack.exit(GStack.enter()); // Yields if it was asked to.
                    }
                    ended.countDown();
                });
            }
            long limit = System.nanoTime() + PATIENCE;
            do { // On a busy machine they may have no CPU for seconds. A few requests would be within the tolerance below.
                Thread.sleep(500);
            } while (SchedStat.NTOLD.getOpaque(sched) < ASKED && System.nanoTime() < limit);
            long asked = SchedStat.NTOLD.getOpaque(sched);
            long cpu = 0;
            for (Machine m : gmp.scheduler().machines()) {
                cpu += ThreadState.cpuNanos(m);
            }
            stop.set(true);
            ended.await();
            assertTrue(asked > 2, "asked " + asked + " times");
            assertTrue(asked <= cpu / quantum + 5, asked + " requests in " + cpu + " ns");
        } finally {
            stop.set(true);
            for (Thread t : spinners) {
                t.join();
            }
        }
    }

    private static void spin(AtomicBoolean stop) {
        while (!stop.get()) {
            Thread.onSpinWait();
        }
    }

    /** A slice whose thread had no CPU for a moment ends when its CPU time is used up, and not some milliseconds later. */
    @Test
    void aMomentWithoutACpuMakesASliceAMomentLonger() throws InterruptedException {
        long moment = 300_000;
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            AtomicLong lost = new AtomicLong();
            Retake retake = new Retake(gmp.s, new Stalls(gmp.s.config.debug())) {
                @Override
                long cpuTime(Machine m, long now) {
                    return now - lost.get();
                }
            };
            gmp.run(() -> {
                Go.go(() -> { });
                long now = System.nanoTime();
                boolean _ = retake.look(now);
                long over = now + retake.seen.untilOver(now);
                lost.set(moment);
                var _ = retake.look(over);
                assertEquals(moment, retake.seen.untilOver(over));
                long later = over + moment / 2;
                lost.addAndGet(moment / 2);
                var _ = retake.look(later);
                assertEquals(QUANTUM.toNanos() / 4, retake.seen.untilOver(later), "it had none since then");
                assertEquals(0, SchedStat.NTOLD.getOpaque(gmp.s.sched));
                lost.set(moment);
                var _ = retake.look(over + moment);
                assertEquals(1, SchedStat.NTOLD.getOpaque(gmp.s.sched));
            });
        }
    }
}
