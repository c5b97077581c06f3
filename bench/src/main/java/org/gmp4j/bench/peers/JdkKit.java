// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/** Threads of the JDK, virtual or platform ones, with what {@code java.util.concurrent} has for them. */
final class JdkKit implements Kit {
    private final ThreadFactory factory;
    private final ScheduledThreadPoolExecutor timers =
            new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().factory());

    /** Makes a kit of virtual or platform threads. The JVM's settings say how many run at a time. */
    JdkKit(boolean virtual) {
        factory = virtual ? Thread.ofVirtual().factory() : Thread.ofPlatform().daemon().factory();
        timers.setRemoveOnCancelPolicy(true);
    }

    /** What may be interrupted, and is not. */
    private interface Wait<T> {
        T get() throws InterruptedException;
    }

    private static <T> T uninterrupted(Wait<T> wait) {
        try {
            return wait.get();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void run(Runnable main) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread t = factory.newThread(() -> {
            try {
                main.run();
            } catch (RuntimeException | Error e) {
                thrown.set(e);
            }
        });
        t.start();
        boolean _ = uninterrupted(() -> {
            t.join();
            return true;
        });
        if (thrown.get() != null) {
            throw new IllegalStateException(thrown.get());
        }
    }

    @Override
    public void go(Runnable r) {
        factory.newThread(r).start();
    }

    @Override
    public void yield() {
        Thread.yield();
    }

    @Override
    public void sleep(Duration d) {
        boolean _ = uninterrupted(() -> {
            Thread.sleep(d);
            return true;
        });
    }

    /** Runs the call; the JDK has no way to announce one that blocks. */
    @Override
    public void blocking(Runnable call) {
        call.run();
    }

    private record Blocking(BlockingQueue<Long> q) implements Queue {
        @Override
        public void send(long v) {
            try {
                q.put(v);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public long recv() {
            try {
                return q.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    public Queue queue(int capacity) {
        return new Blocking(capacity == 0 ? new SynchronousQueue<>() : new ArrayBlockingQueue<>(capacity));
    }

    @Override
    public Guard guard() {
        ReentrantLock lock = new ReentrantLock();
        return new Guard() {
            @Override
            public void lock() {
                lock.lock();
            }

            @Override
            public void unlock() {
                lock.unlock();
            }
        };
    }

    @Override
    public Latch latch(int n) {
        CountDownLatch latch = new CountDownLatch(n);
        return new Latch() {
            @Override
            public void done() {
                latch.countDown();
            }

            @Override
            public void await() {
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
    }

    @Override
    public Gate gate() {
        Latch latch = latch(1);
        return new Gate() {
            @Override
            public void await() {
                latch.await();
            }

            @Override
            public void open() {
                latch.done();
            }
        };
    }

    @Override
    public Alarm alarm() {
        return new Alarm() {
            private ScheduledFuture<?> task = set();

            private ScheduledFuture<?> set() {
                return timers.schedule(() -> {}, 1, TimeUnit.HOURS);
            }

            @Override
            public void reset() {
                task.cancel(false);
                task = set();
            }

            @Override
            public void stop() {
                task.cancel(false);
            }
        };
    }

    /** Returns null: the JDK has no select. */
    @Override
    public Runnable either(Queue a, LongConsumer onA, Queue b, LongConsumer onB) {
        return null;
    }

    /** Returns null: the JDK has no such trace. */
    @Override
    public Runnable trace() {
        return null;
    }

    @Override
    public void close() {
        timers.shutdownNow();
    }
}
