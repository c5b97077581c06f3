// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;

import org.gmp4j.bench.measure.Rings;
import org.gmp4j.ffi.gmp.shims_h;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * The run queue of a P by one thread, each operation beside the same in C11 atomics ({@code floor…}). For regressions
 * and for the claim in bench/FIGURES.md. A steal must be timed without refilling the victim: {@code steal} and {@code floorSteal}
 * time it themselves, and their result is the counter {@code nanosPerSteal}; their own score has the refilling in it.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class RunqBench {
    private static final int N = 4096;
    private static final int CLOCK_READINGS = 100_000;

    private Rings rings;
    private long clockCost;

    /** What a steal took. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Steals {
        /** How many at a time. */
        @Param({"1", "4", "16", "128"})
        int batch;

        private double nanos;
        private long steals;
        private int iterations;

        /** JMH adds such counters up over all iterations. */
        @Setup
        public void count(BenchmarkParams params) {
            iterations = params.getMeasurement().getCount() * Math.max(1, params.getForks());
        }

        /** Nanoseconds of one steal, refilling and the clock's cost not counted: this iteration's part of the mean. */
        public double nanosPerSteal() {
            return nanos / steals / iterations;
        }

        /** Counts anew. */
        @Setup(Level.Iteration)
        public void reset() {
            nanos = 0;
            steals = 0;
        }

        void add(long elapsed, int n) {
            nanos += Math.max(0, elapsed);
            steals += n;
        }
    }

    /** Makes the rings. */
    @Setup
    public void open() {
        rings = new Rings();
        clockCost = Long.MAX_VALUE;
        for (int i = 0; i < CLOCK_READINGS; i++) {
            long start = System.nanoTime();
            clockCost = Math.min(clockCost, System.nanoTime() - start);
        }
    }

    /** Each iteration begins with empty rings. */
    @Setup(Level.Iteration)
    public void clear() {
        rings.clear();
    }

    /** Gives them back. */
    @TearDown
    public void close() {
        rings.close();
    }

    /** runqput and runqget by the owner. */
    @Benchmark
    @OperationsPerInvocation(N)
    public long pushpop() {
        return rings.pushpop(rings.thief(0), N);
    }

    /** The same in C. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void floorPushpop() {
        shims_h.gmp_floor_pushpop(rings.thief(0), N);
    }

    /** runqsteal from an empty ring. */
    @Benchmark
    @OperationsPerInvocation(N)
    public long probe() {
        return rings.probe(N);
    }

    /** The same in C. */
    @Benchmark
    @OperationsPerInvocation(N)
    public long floorProbe() {
        return shims_h.gmp_floor_failed_probe(N);
    }

    /** Sixteen steals: see the counter. */
    @Benchmark
    @OperationsPerInvocation(Rings.ROUND)
    public long steal(Steals steals) {
        rings.fill(steals.batch);
        long start = System.nanoTime();
        long sum = rings.steal();
        steals.add(System.nanoTime() - start - clockCost, Rings.ROUND);
        rings.drain(steals.batch);
        return sum;
    }

    /** The same in C: see the counter. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void floorSteal(Steals steals) {
        steals.add(shims_h.gmp_floor_steal(N, steals.batch), N);
    }
}
