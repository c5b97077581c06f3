// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.gmp4j.context.Context;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/**
 * Random operations on some locks and groups, and their model: what a lock guards stands in plain fields and comes to what
 * its users did; nobody is where a lock says that nobody is. Some locks are given back by a timer's goroutine. Conditions
 * guard a queue with little room, whose numbers come out in order, each once.
 */
final class MixLocks {
    private static final int SIZE = 5;
    private static final int ROOM = 3;
    private static final int LONGEST_WAIT = 50_000;

    private final Mutex mutex = new Mutex();
    private long inMutex;
    private final LongAdder locked = new LongAdder();

    private final RWMutex rw = new RWMutex();
    private long left;
    private long right;
    private final LongAdder written = new LongAdder();

    private final Semaphore semaphore = new Semaphore(SIZE);
    private final AtomicLong held = new AtomicLong();

    private final Mutex queueLock = new Mutex();
    private final Cond notFull = new Cond(queueLock);
    private final Cond notEmpty = new Cond(queueLock);
    private final long[] queue = new long[ROOM];
    private long head;
    private long tail;
    private boolean closed;
    private final LongAdder put = new LongAdder();
    private final LongAdder taken = new LongAdder();

    /** When nobody uses them but those in {@link User#takeAll}. */
    void close() {
        queueLock.lock();
        closed = true;
        queueLock.unlock();
        notEmpty.broadcast();
    }

    /** When all users have ended. Waits for those that give locks back later. */
    void check() {
        semaphore.acquire(SIZE);
        mutex.lock();
        rw.lock();
        assertEquals(0, held.get());
        assertEquals(locked.sum(), inMutex);
        assertEquals(written.sum(), left);
        assertEquals(written.sum(), right);
        assertEquals(put.sum(), tail);
        assertEquals(taken.sum(), head);
        assertEquals(head, tail);
        rw.unlock();
        mutex.unlock();
        semaphore.release(SIZE);
    }

    /** A user of them; one thread. */
    final class User {
        private final SplittableRandom random;
        private final Consumer<Runnable> go;
        private final Consumer<Runnable> later;

        /**
         * A user.
         *
         * @param go starts a goroutine
         * @param later starts one in a while
         */
        User(SplittableRandom random, Consumer<Runnable> go, Consumer<Runnable> later) {
            this.random = random;
            this.go = go;
            this.later = later;
        }

        private Duration wait(int longest) {
            return Duration.ofNanos(random.nextInt(longest));
        }

        /** Does something; waits for the others at most as long as it takes them to do something. */
        void step() {
            switch (random.nextInt(7)) {
                case 0 -> lock();
                case 1 -> write();
                case 2 -> read();
                case 3 -> hold();
                case 4 -> put();
                case 5 -> takeWithin(wait(LONGEST_WAIT));
                default -> fork();
            }
        }

        private void stay() {
            switch (random.nextInt(8)) {
                case 0 -> {
                    Object _ = Time.after(wait(LONGEST_WAIT / 4)).recv();
                }
                case 1, 2 -> MixChans.pause();
                default -> { }
            }
        }

        private void giveBack(Runnable unlock) {
            if (random.nextInt(6) == 0) {
                later.accept(unlock);
            } else {
                unlock.run();
            }
        }

        private void lock() {
            switch (random.nextInt(3)) {
                case 0 -> {
                    long _ = mutex.with(() -> ++inMutex);
                    locked.increment();
                    return;
                }
                case 1 -> {
                    if (!mutex.tryLock()) {
                        return;
                    }
                }
                default -> mutex.lock();
            }
            locked.increment();
            long before = inMutex;
            stay();
            inMutex = before + 1;
            giveBack(mutex::unlock);
        }

        private void write() {
            if (random.nextInt(3) == 0) {
                if (!rw.tryLock()) {
                    return;
                }
            } else {
                rw.lock();
            }
            written.increment();
            long before = left++;
            stay();
            right = before + 1;
            giveBack(rw::unlock);
        }

        private void read() {
            if (random.nextInt(3) == 0) {
                if (!rw.tryRLock()) {
                    return;
                }
            } else {
                rw.rLock();
            }
            long before = left;
            stay();
            assertTrue(left == before && right == before, "a writer beside a reader");
            giveBack(rw::rUnlock);
        }

        /** The mutex, and the like, are taken inside the semaphore, never the other way round. */
        private void hold() {
            int n = random.nextInt(1, SIZE + 1);
            if (random.nextInt(3) == 0) {
                if (!semaphore.tryAcquire(n)) {
                    return;
                }
            } else if (random.nextBoolean()) {
                semaphore.acquire(n);
            } else if (!acquireWithin(n)) {
                return;
            }
            assertTrue(held.addAndGet(n) <= SIZE, "more is held than there is");
            if (random.nextInt(4) == 0) {
                lock();
            } else {
                stay();
            }
            giveBack(() -> {
                held.addAndGet(-n);
                semaphore.release(n);
            });
        }

        private boolean acquireWithin(int n) {
            Context limit = Context.background().withTimeout(wait(LONGEST_WAIT));
            try {
                semaphore.acquire(limit, n);
                return true;
            } catch (Exception e) {
                assertSame(Context.DEADLINE_EXCEEDED, e);
                return false;
            } finally {
                limit.cancel();
            }
        }

        private void put() {
            queueLock.lock();
            while (tail - head == ROOM) {
                notFull.await();
            }
            queue[(int) (tail % ROOM)] = tail;
            tail++;
            queueLock.unlock();
            notEmpty.signal();
            put.increment();
        }

        /** Under the lock: what is there, if anything. */
        private boolean takeNow() {
            if (head == tail) {
                return false;
            }
            assertEquals(head, queue[(int) (head % ROOM)]);
            head++;
            taken.increment();
            notFull.signal();
            return true;
        }

        private void takeWithin(Duration d) {
            boolean[] timeUp = new boolean[1];
            Timer t = Time.afterFunc(d, () -> {
                queueLock.lock();
                timeUp[0] = true;
                queueLock.unlock();
                notEmpty.broadcast();
            });
            queueLock.lock();
            boolean got = takeNow();
            while (!got && !timeUp[0]) {
                notEmpty.await();
                got = takeNow();
            }
            queueLock.unlock();
            boolean _ = t.stop();
        }

        /** Takes until {@link #close}: without such users those that put could wait for ever. */
        void takeAll() {
            boolean more = true;
            while (more) {
                queueLock.lock();
                boolean got = takeNow();
                while (!got && !closed) {
                    notEmpty.await();
                    got = takeNow();
                }
                queueLock.unlock();
                more = got;
                stay();
            }
        }

        /** A group is used twice, and waited for by two. */
        private void fork() {
            WaitGroup children = new WaitGroup();
            WaitGroup other = new WaitGroup();
            for (int round = 0; round < 2; round++) {
                int n = random.nextInt(1, 4);
                int[] results = new int[n]; // Plain: the group orders it.
                children.add(n);
                for (int i = 0; i < n; i++) {
                    int child = i;
                    (random.nextInt(4) == 0 ? later : go).accept(() -> {
                        MixChans.pause();
                        results[child] = child + 1;
                        children.done();
                    });
                }
                other.add(1);
                go.accept(() -> {
                    children.await();
                    other.done();
                });
                children.await();
                assertEquals(n * (n + 1) / 2, IntStream.of(results).sum());
                other.await();
            }
        }
    }
}
