// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;

import org.gmp4j.events.Batch;
import org.gmp4j.events.Ev;
import org.gmp4j.events.EventRing;
import org.gmp4j.events.Tracer;
import org.gmp4j.ffi.Ticks;
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
 * An event of the execution tracer by itself, beside the clock that it reads; full batches are taken away as they come. What a trace
 * costs a program is in {@code gmp peers traced}. For regressions and for the claim in bench/FIGURES.md.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class TraceBench {
    /** Some eight batches. */
    private static final int N = 32_768;
    private static final long BYTES = 4 << 20;
    private static final int EVENTS_OF_A_SWITCH = 3;

    private Tracer tracer;
    private EventRing ring;

    /** Takes its memory. */
    @Setup
    public void open() {
        tracer = new Tracer(1, BYTES, null);
        ring = tracer.ring(0);
    }

    /** Gives it back. */
    @TearDown
    public void close() {
        tracer.close();
        drain();
        tracer.release();
    }

    private void drain() {
        for (Batch b = tracer.batches.poll(); b != null; b = tracer.batches.poll()) {
            tracer.batches.free(b);
        }
    }

    /** One event with a time of its own. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void event() {
        for (int i = 0; i < N; i++) {
            ring.event(Ev.UNBLOCK, 0, i, 0);
        }
        drain();
    }

    /** Those of a switch by a channel, each: one wakes another and blocks, and that one runs at once. Two look at the clock. */
    @Benchmark
    @OperationsPerInvocation(EVENTS_OF_A_SWITCH * N)
    public void eventOfASwitch() {
        for (int i = 0; i < N; i++) {
            ring.event(Ev.UNBLOCK, 0, i, 0);
            ring.stop(Ev.BLOCK, 1, i);
            ring.start(i, true);
        }
        drain();
    }

    /** What an event cannot be cheaper than: the clock. */
    @Benchmark
    @OperationsPerInvocation(N)
    public long floorClock() {
        long sum = 0;
        for (int i = 0; i < N; i++) {
            sum += Ticks.now();
        }
        return sum;
    }
}
