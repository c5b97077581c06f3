// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.WaitGroup;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Locks of goroutines, beside the JDK's in the same goroutines. For regressions; with {@code -prof gc} for garbage. What is
 * contended has 2 Ps, the rest 1.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class SyncBench {
    private static final int N = 1_000_000;
    private static final int WAITS = 100_000;

    private final Mutex mutex = new Mutex();
    private final RWMutex rwMutex = new RWMutex();
    private final ReentrantLock jdkLock = new ReentrantLock();
    private final ReentrantReadWriteLock jdkRwLock = new ReentrantReadWriteLock();
    private Gmp one;
    private Gmp two;
    private long counter;

    /** Starts the schedulers. */
    @Setup
    public void open() {
        one = Gmp.builder().procs(1).build();
        two = Gmp.builder().procs(2).build();
    }

    /** Ends them. */
    @TearDown
    public void close() {
        one.close();
        two.close();
    }

    /** Lock and unlock without contention. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void mutex() {
        one.run(() -> {
            for (int i = 0; i < N; i++) {
                mutex.lock();
                counter++;
                mutex.unlock();
            }
        });
    }

    /** The same. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void mutexOfTheJdk() {
        one.run(() -> {
            for (int i = 0; i < N; i++) {
                jdkLock.lock();
                counter++;
                jdkLock.unlock();
            }
        });
    }

    /** Four goroutines on two Ps. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void contended() {
        four(() -> {
            for (int i = 0; i < N / 4; i++) {
                mutex.lock();
                counter++;
                mutex.unlock();
            }
        });
    }

    /** The same. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void contendedOfTheJdk() {
        four(() -> {
            for (int i = 0; i < N / 4; i++) {
                jdkLock.lock();
                counter++;
                jdkLock.unlock();
            }
        });
    }

    private void four(Runnable body) {
        two.run(() -> {
            WaitGroup wg = new WaitGroup();
            for (int g = 0; g < 4; g++) {
                wg.go(body);
            }
            wg.await();
        });
    }

    /** Read lock and unlock. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void read() {
        one.run(() -> {
            for (int i = 0; i < N; i++) {
                rwMutex.rLock();
                rwMutex.rUnlock();
            }
        });
    }

    /** Read lock and unlock of four goroutines on two Ps. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void readTogether() {
        four(() -> {
            for (int i = 0; i < N / 4; i++) {
                rwMutex.rLock();
                rwMutex.rUnlock();
            }
        });
    }

    /** The same. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void readOfTheJdk() {
        one.run(() -> {
            for (int i = 0; i < N; i++) {
                jdkRwLock.readLock().lock();
                jdkRwLock.readLock().unlock();
            }
        });
    }

    /** A goroutine is started, and waited for while it has not run. */
    @Benchmark
    @OperationsPerInvocation(WAITS)
    public void waitGroup() {
        one.run(() -> {
            WaitGroup wg = new WaitGroup();
            Runnable done = wg::done;
            for (int i = 0; i < WAITS; i++) {
                wg.add(1);
                Go.go(done);
                wg.await();
            }
        });
    }

    /** The same with what the JDK has; a latch is for one use. */
    @Benchmark
    @OperationsPerInvocation(WAITS)
    public void waitGroupOfTheJdk() {
        one.run(() -> {
            for (int i = 0; i < WAITS; i++) {
                CountDownLatch latch = new CountDownLatch(1);
                Go.go(latch::countDown);
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
    }
}
