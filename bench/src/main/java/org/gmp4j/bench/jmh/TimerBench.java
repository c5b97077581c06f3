// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
import org.gmp4j.context.Context;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/**
 * Timers of one goroutine on one P, beside the JDK's. The peer's works timerstop, funcstop, timerreset, funcreset do the
 * same. For regressions.
 */
public class TimerBench extends GmpBench {
    private static final int N = 1_000_000;
    private static final int SLEEPS = 1_000;
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration SLEEP = Duration.ofNanos(50_000);

    @Override
    Gmp.Builder settings() {
        return Gmp.builder().procs(1).spin(SpinPolicy.latency(Duration.ofMillis(1)));
    }

    /** A timer with a channel, made and stopped. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void createStop() {
        gmp.run(() -> {
            for (int i = 0; i < N; i++) {
                Time.newTimer(HOUR).stop();
            }
        });
    }

    /** A function, set and stopped. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void funcStop() {
        gmp.run(() -> {
            for (int i = 0; i < N; i++) {
                Time.afterFunc(HOUR, this::nothing).stop();
            }
        });
    }

    /** The same with the JDK's; an earlier task stands in the queue, so its thread is not told of each. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void funcStopOfTheJdk() {
        try (ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1)) {
            timers.setRemoveOnCancelPolicy(true);
            timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            ScheduledFuture<?> first = timers.schedule(this::nothing, 1, TimeUnit.MINUTES);
            for (int i = 0; i < N; i++) {
                boolean _ = timers.schedule(this::nothing, 1, TimeUnit.HOURS).cancel(false);
            }
            boolean _ = first.cancel(false);
        }
    }

    private void nothing() {
        // It is never run.
    }

    /** A timer with a channel, set back again and again. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void reset() {
        gmp.run(() -> {
            Timer t = Time.newTimer(HOUR);
            for (int i = 0; i < N; i++) {
                t.reset(HOUR);
            }
        });
    }

    /** A function's timer, set back again and again. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void funcReset() {
        gmp.run(() -> {
            Timer t = Time.afterFunc(HOUR, this::nothing);
            for (int i = 0; i < N; i++) {
                t.reset(HOUR);
            }
            t.stop();
        });
    }

    /** A context with a timeout, made and cancelled. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void withTimeoutCancel() {
        gmp.run(() -> {
            Context root = Context.background().withCancel();
            for (int i = 0; i < N; i++) {
                root.withTimeout(HOUR).cancel();
            }
        });
    }

    /** A sleep of 50 µs under {@code latency(1 ms)}; what exceeds 50,000 is its lateness. */
    @Benchmark
    @OperationsPerInvocation(SLEEPS)
    public void sleep() {
        gmp.run(() -> {
            for (int i = 0; i < SLEEPS; i++) {
                Go.sleep(SLEEP);
            }
        });
    }

    /** The same of a plain thread. */
    @Benchmark
    @OperationsPerInvocation(SLEEPS)
    public void sleepOfTheJdk() {
        for (int i = 0; i < SLEEPS; i++) {
            long end = System.nanoTime() + SLEEP.toNanos();
            for (long left = SLEEP.toNanos(); left > 0; left = end - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
    }
}
