// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TransferQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code java.util.concurrent}, all of it that blocks, between goroutines. On one P a waiter must let the other run;
 * on two they do it at the same time.
 */
class ConcurrentTest {
    private static final int N = 2_000;

    private interface Body {
        void run() throws Exception;
    }

    /** Runs all of them as goroutines and waits for them. */
    private static void together(int procs, Body... bodies) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (Body b : bodies) {
                    wg.go(() -> {
                        try {
                            b.run();
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    });
                }
                wg.await();
            });
            gmp.check();
        }
    }

    /** One puts, one takes, in order, through queues that are mostly full or empty; the two meet at each end. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void queues(int procs) {
        for (BlockingQueue<Integer> q : List.of(new ArrayBlockingQueue<Integer>(1), new ArrayBlockingQueue<Integer>(7),
                new LinkedBlockingQueue<Integer>(2), new LinkedBlockingDeque<Integer>(1), new SynchronousQueue<Integer>(),
                new SynchronousQueue<Integer>(true), new LinkedTransferQueue<Integer>())) {
            together(procs, () -> {
                for (int i = 0; i < N; i++) {
                    q.put(i);
                }
            }, () -> {
                for (int i = 0; i < N; i++) {
                    assertEquals(i, q.take());
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void transfers(int procs) {
        TransferQueue<Integer> q = new LinkedTransferQueue<>();
        AtomicInteger taken = new AtomicInteger(-1);
        together(procs, () -> {
            for (int i = 0; i < N; i++) {
                q.transfer(i); // Returns when it was taken.
                while (taken.get() < i) {
                    Thread.yield();
                }
            }
        }, () -> {
            for (int i = 0; i < N; i++) {
                taken.set(q.take());
            }
        });
        assertEquals(N - 1, taken.get());
    }

    private record After(long nanoTime) implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(nanoTime - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.signum(nanoTime - ((After) other).nanoTime);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void delaysAndPriorities(int procs) {
        DelayQueue<After> delays = new DelayQueue<>();
        PriorityBlockingQueue<Integer> priorities = new PriorityBlockingQueue<>();
        together(procs, () -> {
            long now = System.nanoTime();
            for (int i = 20; i > 0; i--) {
                delays.put(new After(now + i * 100_000L));
            }
            priorities.addAll(List.of(3, 1, 2));
        }, () -> {
            long last = Long.MIN_VALUE;
            for (int i = 0; i < 20; i++) {
                After a = delays.take();
                assertTrue(System.nanoTime() - a.nanoTime >= 0 && (i == 0 || a.nanoTime - last > 0), "early, or out of order");
                last = a.nanoTime;
            }
            assertEquals(List.of(1, 2, 3), List.of(priorities.take(), priorities.take(), priorities.take()));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void exchanges(int procs) {
        Exchanger<Integer> x = new Exchanger<>();
        together(procs, () -> {
            for (int i = 0; i < N; i++) {
                assertEquals(-i, x.exchange(i));
            }
        }, () -> {
            for (int i = 0; i < N; i++) {
                assertEquals(i, x.exchange(-i));
            }
        });
    }

    /** Many come to a barrier, a phaser and a latch again and again; none goes on before all are there. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void barriers(int procs) {
        int parties = 10;
        int rounds = 100;
        CyclicBarrier barrier = new CyclicBarrier(parties);
        Phaser phaser = new Phaser(parties);
        CountDownLatch latch = new CountDownLatch(parties);
        AtomicInteger came = new AtomicInteger();
        Body[] bodies = new Body[parties];
        for (int p = 0; p < parties; p++) {
            bodies[p] = () -> {
                for (int i = 1; i <= rounds; i++) {
                    came.incrementAndGet();
                    barrier.await();
                    assertTrue(came.get() >= i * parties);
                    assertEquals(i - 1, phaser.arrive());
                    phaser.awaitAdvance(i - 1);
                }
                latch.countDown();
                latch.await();
                assertEquals(parties * rounds, came.get());
            };
        }
        together(procs, bodies);
    }

    /** Readers and writers by each kind of lock: a writer is alone, and each waiter gets the lock. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void locks(int procs) {
        ReentrantReadWriteLock fair = new ReentrantReadWriteLock(true);
        ReentrantReadWriteLock unfair = new ReentrantReadWriteLock();
        StampedLock stamped = new StampedLock();
        Semaphore binary = new Semaphore(1);
        Lock[][] pairs = {{fair.readLock(), fair.writeLock()}, {unfair.readLock(), unfair.writeLock()},
                {stamped.asReadLock(), stamped.asWriteLock()}};
        for (Lock[] pair : pairs) {
            long[] two = new long[2];
            Body reader = () -> {
                for (int i = 0; i < N; i++) {
                    pair[0].lock();
                    assertEquals(two[0], two[1]);
                    pair[0].unlock();
                }
            };
            Body writer = () -> {
                for (int i = 0; i < N / 10; i++) {
                    pair[1].lock();
                    two[0]++;
                    Go.gosched();
                    two[1]++;
                    pair[1].unlock();
                }
            };
            together(procs, reader, writer, reader, writer, reader);
            assertEquals(2 * (N / 10), two[1]);
        }
        long[] count = new long[1];
        Body alone = () -> {
            for (int i = 0; i < N; i++) {
                binary.acquire();
                count[0]++;
                if (i % 10 == 0) {
                    Thread.yield();
                }
                binary.release();
            }
        };
        together(procs, alone, alone, alone);
        assertEquals(3 * N, count[0]);
    }

    private static final class Fib extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1L;
        private final int n;

        Fib(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fib left = new Fib(n - 1);
            left.fork();
            return new Fib(n - 2).compute() + left.join();
        }
    }

    /** Futures of all kinds, completed by goroutines, by the JDK's pools and by timers. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void futures(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs);
                ExecutorService ours = gmp.gmp.newThreadPerTaskExecutor();
                ScheduledThreadPoolExecutor later = new ScheduledThreadPoolExecutor(1, gmp.gmp.threadFactory())) {
            gmp.call(() -> {
                List<CompletableFuture<Integer>> all = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    int n = i;
                    all.add(CompletableFuture.supplyAsync(() -> n, i % 2 == 0 ? ours : ForkJoinPool.commonPool())
                            .thenCombineAsync(CompletableFuture.supplyAsync(() -> {
                                Go.sleep(java.time.Duration.ofNanos(1_000));
                                return n;
                            }, ours), Integer::sum, ours)
                            .thenApply(v -> v + 1));
                }
                CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
                int sum = 0;
                for (CompletableFuture<Integer> f : all) {
                    sum += f.get();
                }
                assertEquals(100 * 99 + 100, sum);
                assertEquals(5, new CompletableFuture<Integer>().completeOnTimeout(5, 1, TimeUnit.MILLISECONDS).get());
                FutureTask<Integer> task = new FutureTask<>(() -> 6);
                Go.go(task);
                assertEquals(6, task.get());
                assertEquals(7, later.schedule(() -> Go.inGoroutine() ? 7 : 0, 1, TimeUnit.MILLISECONDS).get());
                AtomicInteger ticks = new AtomicInteger();
                Chan<Boolean> enough = Chan.make(1);
                later.scheduleAtFixedRate(() -> {
                    if (ticks.incrementAndGet() == 5) {
                        enough.send(true);
                    }
                }, 0, 1, TimeUnit.MILLISECONDS);
                enough.recv();
                assertEquals(6_765, ForkJoinPool.commonPool().submit(new Fib(20)).get());
                assertEquals(6_765, new Fib(20).fork().join());
                return null;
            });
        }
    }

    /** Back pressure through {@code Flow}: a publisher with a small buffer waits for its subscriber. */
    @Test
    void flow() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2); ExecutorService ours = gmp.gmp.newThreadPerTaskExecutor()) {
            long sum = gmp.call(() -> {
                CompletableFuture<Long> total = new CompletableFuture<>();
                try (SubmissionPublisher<Integer> publisher = new SubmissionPublisher<>(ours, 4)) {
                    publisher.subscribe(new Flow.Subscriber<>() {
                        private Flow.Subscription subscription;
                        private long sum;

                        @Override
                        public void onSubscribe(Flow.Subscription s) {
                            subscription = s;
                            s.request(1);
                        }

                        @Override
                        public void onNext(Integer v) {
                            sum += v;
                            Go.gosched();
                            subscription.request(1);
                        }

                        @Override
                        public void onError(Throwable t) {
                            total.completeExceptionally(t);
                        }

                        @Override
                        public void onComplete() {
                            total.complete(sum);
                        }
                    });
                    for (int i = 0; i < N; i++) {
                        publisher.submit(i);
                    }
                }
                return total.get();
            });
            assertEquals((long) N * (N - 1) / 2, sum);
        }
    }

    /** All of it at once, goroutines, virtual threads and plain threads mixed, with waits that are cut short. */
    @Stress
    void mixed() throws InterruptedException {
        LinkedBlockingQueue<Integer> q = new LinkedBlockingQueue<>(3);
        AtomicInteger in = new AtomicInteger();
        AtomicInteger out = new AtomicInteger();
        int each = 300;
        Runnable producer = () -> {
            for (int i = 0; i < each; i++) {
                try {
                    while (!q.offer(1, 50, TimeUnit.MICROSECONDS)) {
                        Thread.onSpinWait();
                    }
                    in.incrementAndGet();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        };
        Runnable consumer = () -> {
            for (int i = 0; i < each;) {
                try {
                    if (q.poll(50, TimeUnit.MICROSECONDS) != null) {
                        out.incrementAndGet();
                        i++;
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        };
        try (TestGmp gmp = TestGmp.procs(2)) {
            List<Thread> threads = new ArrayList<>();
            for (Runnable r : List.of(producer, consumer)) {
                gmp.go(r);
                threads.add(gmp.gmp.threadFactory().newThread(r));
                threads.add(Thread.ofVirtual().unstarted(r));
                threads.add(Thread.ofPlatform().unstarted(r));
            }
            for (Thread t : threads) {
                t.start();
            }
            for (Thread t : threads) {
                t.join();
            }
        }
        assertEquals(4 * each, in.get());
        assertEquals(4 * each, out.get());
        assertTrue(q.isEmpty());
    }
}
