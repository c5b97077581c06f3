// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;

import org.gmp4j.agent.Points;
import org.gmp4j.bench.points.Kernel;
import org.gmp4j.bench.points.KernelLoader;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What preemption points cost loops: for a look at one kernel with JMH's profilers. The claim, ratios side by side in one
 * JVM, is {@code gmp preempt points}: forks one after the other differ by more than the points cost.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PointsBench {
    private static final int WARM = 20_000;

    /** Which kernel. */
    @Param({"VectorSum", "DotProduct", "MatrixProduct", "ParseBytes", "Hash", "Sort", "Mandelbrot", "Fib", "Permutations",
        "StringBuilding", "LinkedWalk", "Sieve", "StateMachine", "SmallLoops"})
    public String kernel;

    /** Without points, with points, or with points that were armed once. */
    @Param({"plain", "unarmed", "disarmed"})
    public String points;

    private Kernel work;

    /** Loads the kernel's own copy. */
    @Setup
    public void load() {
        KernelLoader loader = new KernelLoader(!points.equals("plain"));
        work = loader.kernel(kernel);
        if (points.equals("disarmed")) {
            warm(WARM);
            loader.arm(work);
            warm(WARM);
            Points.disarmAll();
        }
    }

    /** Leaves nothing armed. */
    @TearDown
    public void disarm() {
        Points.disarmAll();
    }

    private void warm(int times) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        for (int i = 0; i < times && System.nanoTime() < end; i++) {
            work.run();
        }
    }

    /** Once. */
    @Benchmark
    public long run() {
        return work.run();
    }
}
