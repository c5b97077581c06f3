// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
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

/** The life of an empty goroutine, spawn, run and exit, on one P and in batches that fit its ring. For regressions. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class SpawnBench {
    private static final int BATCH = 200;
    private static final int SPAWNS = 1_000_000;

    private final Runnable count = this::count;
    private Gmp gmp;
    private int ran;

    /** Starts the scheduler. */
    @Setup
    public void open() {
        gmp = Gmp.builder().procs(1).build();
    }

    /** Ends it. */
    @TearDown
    public void close() {
        gmp.close();
    }

    /** Spawns a batch, lets it run, and so on. */
    @Benchmark
    @OperationsPerInvocation(SPAWNS)
    public void spawn() {
        gmp.run(() -> {
            ran = 0;
            for (int spawned = 0; spawned < SPAWNS; spawned += BATCH) {
                for (int i = 0; i < BATCH; i++) {
                    Go.go(count);
                }
                Go.gosched();
            }
            while (ran < SPAWNS) { // One P: all of this runs on one thread.
                Go.gosched();
            }
        });
    }

    private void count() {
        ran++;
    }
}
