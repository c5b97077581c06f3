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

/** One switch: two goroutines on one P that let each other run. For regressions; with {@code -prof gc} for garbage. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class GoschedBench {
    /** Enough that starting from outside does not count. */
    private static final int SWITCHES = 500_000;

    private Gmp gmp;

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

    /** Half of the switches each. */
    @Benchmark
    @OperationsPerInvocation(SWITCHES)
    public void gosched() {
        gmp.run(() -> {
            Go.go(GoschedBench::half);
            half();
        });
    }

    private static void half() {
        for (int i = 0; i < SWITCHES / 2; i++) {
            Go.gosched();
        }
    }
}
