// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.ffi.gmp.p;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

class TimerHeapTest {
    /** The heap beside a plain model: what comes out is the earliest, timer0When says when that is, and the heap grows. */
    @Test
    void heap() {
        TimerHeap heap = new TimerHeap(Mem.alloc(p.layout(), 1));
        Random random = new Random(3);
        PriorityQueue<Long> model = new PriorityQueue<>();
        for (int i = 0; i < 20_000; i++) {
            if (i == 10_000) {
                TimerHeap other = new TimerHeap(Mem.alloc(p.layout(), 1));
                heap.moveTo(other);
                assertEquals(0, P.timersLenOpaque(heap.pp));
                assertEquals(0, P.timer0WhenAcquire(heap.pp));
                heap = other;
            }
            if (model.isEmpty() || random.nextInt(100) < 55) {
                long when = 1 + random.nextInt(1_000);
                heap.push(when, when << 8); // The G stands for its time.
                model.add(when);
            } else {
                assertEquals(model.remove() << 8, heap.pop());
            }
            assertEquals(model.size(), P.timersLenOpaque(heap.pp));
            assertEquals(model.isEmpty() ? 0 : model.element(), P.timer0WhenAcquire(heap.pp));
        }
        while (!model.isEmpty()) {
            assertEquals(model.remove() << 8, heap.pop());
        }
    }

    /** One that fails, for want of memory say, is no longer seen to, and the next one still fires. */
    @Test
    void oneThatFails() {
        TimerHeap heap = new TimerHeap(Mem.alloc(p.layout(), 1));
        AtomicInteger fired = new AtomicInteger();
        new Planted(heap, () -> {
            throw new IllegalStateException("planted");
        }).set(1);
        new Planted(heap, fired::incrementAndGet).set(2);
        assertThrows(IllegalStateException.class, () -> heap.run(5));
        assertTrue(heap.busy());
        assertEquals(1, heap.run(5));
        assertEquals(1, fired.get());
        assertFalse(heap.busy());
    }

    /** What is stopped keeps nobody waiting, swept or not. */
    @Test
    void stoppedOnesAreNotBusy() {
        TimerHeap heap = new TimerHeap(Mem.alloc(p.layout(), 1));
        Planted one = new Planted(heap, () -> { });
        Planted other = new Planted(heap, () -> { });
        one.set(1);
        other.set(2);
        one.unset();
        assertTrue(heap.busy());
        other.unset();
        assertFalse(heap.busy());
        other.set(3);
        assertTrue(heap.busy());
    }

    /** Its function runs where it is looked at. */
    private static final class Planted extends RuntimeTimer {
        private final TimerHeap heap;
        private final Runnable fn;

        Planted(TimerHeap heap, Runnable fn) {
            super(new HeapMutex(LockRank.SEMA));
            this.heap = heap;
            this.fn = fn;
        }

        void set(long at) {
            lock.lock();
            when = at;
            arm();
            lock.unlock();
        }

        void unset() {
            lock.lock();
            disarm();
            lock.unlock();
        }

        @Override
        void add(Alarm a) {
            heap.lock();
            heap.push(a);
            heap.unlock();
        }

        @Override
        protected void look(long now) {
            lock.unlock();
            fn.run();
        }

        @Override
        public boolean stop() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean reset(long nanos) {
            throw new UnsupportedOperationException();
        }
    }

    /** Nobody wakes before its time. */
    @Test
    void notTooEarly() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 500; i++) {
                    long nanos = 1 + i * 20_000;
                    wg.go(() -> {
                        long begin = System.nanoTime();
                        Go.sleep(Duration.ofNanos(nanos));
                        assertTrue(System.nanoTime() - begin >= nanos, "woke too early");
                    });
                }
                wg.await();
            });
        }
    }

    @Test
    void zeroAndLessIsGosched() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                int[] n = new int[1];
                Go.go(() -> n[0]++);
                Go.sleep(Duration.ZERO);
                assertEquals(1, n[0]);
                Go.go(() -> n[0]++);
                Go.sleep(Duration.ofSeconds(Long.MIN_VALUE));
                assertEquals(2, n[0]);
            });
        }
    }

    /** A sleep of 292 years and more does not overflow into the past. */
    @Test
    void almostForEver() {
        Gmp gmp = Gmp.builder().procs(1).build();
        AtomicInteger woken = new AtomicInteger();
        gmp.go(() -> {
            Go.sleep(Duration.ofSeconds(Long.MAX_VALUE));
            woken.incrementAndGet();
        });
        gmp.run(() -> Go.sleep(Duration.ofMillis(5)));
        assertEquals(0, woken.get());
        String left = gmp.close(Duration.ofMillis(1)); // Nor is this scheduler ever drained.
        assertTrue(left.startsWith("goroutine 1 [sleep]:"), left);
    }

    /** Go: {@code TestTimerFairness}: a timer fires despite channels that are always ready. */
    @Test
    void timerFairness() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                Chan<Integer> done = Chan.make(1);
                for (int i = 0; i < 2; i++) {
                    Go.go(() -> {
                        while (done.len() == 0) {
                            c.trySend(1);
                            Go.gosched();
                        }
                    });
                }
                Go.go(() -> {
                    Go.sleep(Duration.ofMillis(20));
                    done.send(1);
                });
                while (done.len() == 0) {
                    c.tryRecv();
                    Go.gosched();
                }
            });
        }
    }

    /** Go: {@code TestTimerFairness2}: the same through runnext: a ping-pong on one P does not starve the timer. */
    @Test
    void timerFairness2() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                boolean[] done = new boolean[1];
                Go.go(() -> {
                    while (c.recv() != null) {
                        c.send(1);
                    }
                });
                Go.go(() -> {
                    Go.sleep(Duration.ofMillis(20));
                    done[0] = true;
                });
                while (!done[0]) {
                    c.send(0);
                    c.recv();
                }
                c.close();
            });
        }
    }

    /** Ps come and go with timers in their heaps; every sleeper wakes. */
    @Stress
    void sleepersSurviveResizing() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                Random random = new Random(5);
                for (int i = 0; i < 2_000; i++) {
                    Duration d = Duration.ofNanos(random.nextInt(50_000_000));
                    wg.go(() -> {
                        Go.gosched();
                        Go.sleep(d);
                    });
                    if (i % 100 == 0) {
                        Go.gomaxprocs(1 + random.nextInt(6));
                    }
                }
                for (int i = 0; i < 20; i++) {
                    Go.gomaxprocs(1 + random.nextInt(6));
                    Go.sleep(Duration.ofMillis(1));
                }
                wg.await();
            });
        }
    }
}
