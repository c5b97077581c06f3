// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
import org.gmp4j.context.Context;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
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

/** Timers of one goroutine on one P. The peer's works timerstop, funcstop, timerreset, funcreset do the same. For regressions. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class TimerBench {
    private static final int N = 1_000_000;
    private static final int SLEEPS = 1_000;
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration SLEEP = Duration.ofNanos(50_000);

    private Gmp gmp;

    /** Starts the scheduler. */
    @Setup
    public void open() {
        gmp = Gmp.builder().procs(1).spin(SpinPolicy.latency(Duration.ofMillis(1))).build();
    }

    /** Ends it. */
    @TearDown
    public void close() {
        gmp.close();
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
}
