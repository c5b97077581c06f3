// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.queue.Idle;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

class TimerHeapTest {
    /** The heap beside a plain model: what comes out is the earliest, timer0When says when that is, and the heap grows. */
    @Test
    void heap() {
        TimerHeap heap = new TimerHeap(Mem.alloc(Struct.P, 1));
        Random random = new Random(3);
        PriorityQueue<Long> model = new PriorityQueue<>();
        for (int i = 0; i < 20_000; i++) {
            if (i == 10_000) {
                TimerHeap other = new TimerHeap(Mem.alloc(Struct.P, 1));
                heap.moveTo(other);
                assertEquals(0, P.TIMERSLEN.getOpaque(heap.pp));
                assertEquals(0, P.TIMER0WHEN.getAcquire(heap.pp));
                heap = other;
            }
            if (model.isEmpty() || random.nextInt(100) < 55) {
                long when = 1 + random.nextInt(1_000);
                heap.push(when, when << 8); // The G stands for its time.
                model.add(when);
            } else {
                assertEquals(model.remove() << 8, heap.pop());
            }
            assertEquals(model.size(), P.TIMERSLEN.getOpaque(heap.pp));
            assertEquals(model.isEmpty() ? 0 : model.element(), P.TIMER0WHEN.getAcquire(heap.pp));
        }
        while (!model.isEmpty()) {
            assertEquals(model.remove() << 8, heap.pop());
        }
    }

    /** One that fails, for want of memory say, is no longer seen to, and the next one still fires. */
    @Test
    void oneThatFails() {
        TimerHeap heap = new TimerHeap(Mem.alloc(Struct.P, 1));
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

    /** A stopped timer delays no other, swept or not. */
    @Test
    void stoppedOnesAreNotBusy() {
        TimerHeap heap = new TimerHeap(Mem.alloc(Struct.P, 1));
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

    /** Where a move finds no memory, nothing has moved, and both heaps are free and as before. */
    @Test
    void aMoveThatFails() {
        AtomicBoolean memory = new AtomicBoolean(true);
        TimerHeap to = new TimerHeap(Mem.alloc(Struct.P, 1)) {
            @Override
            void reserve(int more) {
                if (!memory.get()) {
                    throw new OutOfMemoryError("planted");
                }
                super.reserve(more);
            }
        };
        TimerHeap from = new TimerHeap(Mem.alloc(Struct.P, 1));
        AtomicInteger fired = new AtomicInteger();
        for (int i = 1; i <= 100; i++) {
            new Planted(from, fired::incrementAndGet).set(i);
        }
        from.prepareMove(to, 0);
        memory.set(false); // Others have used what was reserved.
        assertThrows(OutOfMemoryError.class, () -> from.moveTo(to));
        assertEquals(100, P.TIMERSLEN.getOpaque(from.pp));
        assertEquals(1, P.TIMER0WHEN.getAcquire(from.pp));
        assertTrue(from.busy());
        assertFalse(to.busy());
        assertEquals(20, from.run(20));
        memory.set(true);
        from.moveTo(to);
        assertFalse(from.busy());
        assertEquals(80, to.run(100));
        assertEquals(100, fired.get());
    }

    /** While timers are about to be moved to a heap, threads without its P add others: these take none of the room that was made. */
    @Test
    void roomForWhatIsMovedIsLeft() {
        AtomicBoolean memory = new AtomicBoolean(true);
        TimerHeap to = new TimerHeap(Mem.alloc(Struct.P, 1)) {
            @Override
            void reserve(int more) {
                if (!memory.get() && P.TIMERSLEN.getOpaque(pp) + more > P.TIMERSCAP.get(pp)) {
                    throw new OutOfMemoryError("planted");
                }
                super.reserve(more);
            }
        };
        TimerHeap from = new TimerHeap(Mem.alloc(Struct.P, 1));
        AtomicInteger fired = new AtomicInteger();
        for (int i = 1; i <= 100; i++) {
            new Planted(from, fired::incrementAndGet).set(i);
        }
        from.prepareMove(to, 0);
        for (int i = 1; i <= 50; i++) {
            to.lock();
            to.pushAside(new Alarm(new Planted(to, fired::incrementAndGet), i));
            to.unlock();
        }
        memory.set(false);
        from.moveTo(to);
        assertEquals(150, to.run(100));
        assertEquals(150, fired.get());
    }

    /** The heap to which a stopped timer's entry was moved counts it as stopped. */
    @Test
    void oneThatIsStoppedAfterAMove() {
        TimerHeap from = new TimerHeap(Mem.alloc(Struct.P, 1));
        TimerHeap to = new TimerHeap(Mem.alloc(Struct.P, 1));
        Planted timer = new Planted(from, () -> { });
        timer.set(1);
        from.moveTo(to);
        timer.unset();
        assertFalse(to.busy());
        assertEquals(0, to.next());
        assertFalse(to.busy());
        assertFalse(from.busy());
        assertEquals(0, from.zombies.get());
    }

    /** Timers are stopped and set again while their entries move to another heap. Each heap counts the zombies that it has. */
    @Test
    void stoppedWhileTheyMove() throws InterruptedException {
        TimerHeap[] heaps = new TimerHeap[3];
        Arrays.setAll(heaps, _ -> new TimerHeap(Mem.alloc(Struct.P, 1)));
        Planted[] timers = new Planted[20];
        Arrays.setAll(timers, _ -> new Planted(heaps[0], () -> { }));
        AtomicBoolean over = new AtomicBoolean();
        Threads stopping = new Threads().add(1, "stops", () -> {
            while (!over.get()) {
                for (Planted timer : timers) {
                    timer.set(1);
                    timer.unset();
                }
            }
        }).start();
        for (int i = 0; i < 20_000; i++) {
            heaps[0].moveTo(heaps[1]); // Where stopped timers are set again.
            heaps[1].moveTo(heaps[2]);
            heaps[2].moveTo(heaps[1]);
        }
        over.set(true);
        stopping.join();
        for (TimerHeap heap : heaps) {
            assertEquals(0, heap.next());
            assertEquals(0, heap.zombies.get());
            assertFalse(heap.busy());
        }
    }

    /** A timer that is stopped as its entry is moved hides no other timer of the new heap. */
    @Test
    void busyDuringAMove() {
        AtomicReference<Planted> stopped = new AtomicReference<>();
        AtomicBoolean busy = new AtomicBoolean();
        TimerHeap to = new TimerHeap(Mem.alloc(Struct.P, 1)) {
            @Override
            void place(Alarm a) {
                Planted timer = stopped.getAndSet(null);
                if (timer != null) { // It is being moved.
                    timer.unset();
                    busy.set(busy());
                }
                super.place(a);
            }
        };
        TimerHeap from = new TimerHeap(Mem.alloc(Struct.P, 1));
        new Planted(to, () -> { }).set(1);
        Planted timer = new Planted(from, () -> { });
        timer.set(1);
        stopped.set(timer);
        from.moveTo(to);
        assertTrue(busy.get());
        assertTrue(to.busy());
        assertEquals(1, to.run(1));
        assertFalse(to.busy());
    }

    /**
     * An M takes another P's timer, finds no memory for it and puts it back, when that P has become idle without timers: the timer is seen
     * all the same.
     */
    @Test
    void oneThatComesBackToAnIdleP() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            long sched = gmp.scheduler().sched;
            assertTrue(comesBack(gmp, id -> {
                while (!Idle.maskRead(Schedt.IDLEPMASK.getAcquire(sched), id)) {
                    Thread.onSpinWait();
                }
            }));
        }
    }

    /** The same at any moment while that P becomes idle. */
    @Test
    void oneThatComesBackAsItsPBecomesIdle() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            for (int i = 0; i < 20; i++) {
                long late = i % 10 * 500_000;
                assertTrue(comesBack(gmp, id -> {
                    for (long end = System.nanoTime() + late; System.nanoTime() < end;) {
                        Thread.onSpinWait();
                    }
                }));
            }
        }
    }

    /**
     * Sets a timer on a P that then runs out of work. Another P's M takes it, does {@code before} with the P's id, and finds no memory.
     * Whether the timer fires later.
     */
    private static boolean comesBack(TestGmp gmp, IntConsumer before) throws InterruptedException {
        CountDownLatch fired = new CountDownLatch(1);
        AtomicBoolean begun = new AtomicBoolean();
        gmp.run(() -> {
            int id = P.ID.get(GStack.current().pp());
            new Returning(() -> {
                if (begun.compareAndSet(false, true)) {
                    before.accept(id);
                    throw new OutOfMemoryError("planted");
                }
                fired.countDown();
            }).set();
            while (!begun.get()) { // This M does not look at its timers: another takes it.
                Thread.onSpinWait();
            }
        });
        return fired.await(10, TimeUnit.SECONDS);
    }

    /** As {@link Planted}, on the P at hand, and looked at until its function has returned. */
    private static final class Returning extends RuntimeTimer {
        private final Runnable fn;

        Returning(Runnable fn) {
            super(new HeapMutex(LockRank.SEMA));
            this.fn = fn;
        }

        void set() {
            GStack st = GStack.enter();
            lock.lock();
            when = in(1_000_000);
            arm();
            lock.unlock();
            GStack.exit(st);
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

    /** No sleeper wakes before its time. */
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
