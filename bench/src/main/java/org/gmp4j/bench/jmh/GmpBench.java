// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;

import org.gmp4j.Gmp;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A benchmark inside one scheduler, open for the trial: nanoseconds an operation. An invocation is one {@code gmp.run} with
 * so many operations that starting from outside does not count.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public abstract class GmpBench {
    /** The scheduler. */
    Gmp gmp;

    /** Its settings. */
    Gmp.Builder settings() {
        return Gmp.builder().procs(1);
    }

    /** Starts it. */
    @Setup
    public void open() {
        gmp = settings().build();
    }

    /** Ends it. */
    @TearDown
    public void close() {
        gmp.close();
    }
}
