// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;
import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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

/** Select, in the shapes of {@code bench/peers/go}. For regressions. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class SelectBench {
    private static final int N = 200_000;
    private static final Object TOKEN = new Object();

    /** How many Ps. */
    @Param({"1", "2"})
    int procs;

    private Gmp gmp;
    private long got;

    /** Starts the scheduler. */
    @Setup
    public void open() {
        gmp = Gmp.builder().procs(procs).build();
    }

    /** Ends it. */
    @TearDown
    public void close() {
        gmp.close();
    }

    /** A token goes to and fro between two channels with room for it: a select of two and a send, no switch. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void uncontended() {
        gmp.run(() -> {
            Chan<Object> a = Chan.make(1);
            Chan<Object> b = Chan.make(1);
            a.send(TOKEN);
            Select s = Select.of().recv(a, b::send).recv(b, a::send);
            for (int i = 0; i < N; i++) {
                s.run();
            }
        });
    }

    /** Two goroutines feed a select of two: unbuffered, an element. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void fed() {
        gmp.run(() -> fed(Chan.make(), Chan.make()));
    }

    /** The same through buffers of 128. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void fedBuffered() {
        gmp.run(() -> fed(Chan.make(128), Chan.make(128)));
    }

    private void fed(Chan<Object> a, Chan<Object> b) {
        Go.go(() -> feed(a));
        Go.go(() -> feed(b));
        Select s = Select.of().recv(a, v -> got++).recv(b, v -> got++);
        for (int i = 0; i < N; i++) {
            s.run();
        }
    }

    private static void feed(Chan<Object> c) {
        for (int i = 0; i < N / 2; i++) {
            c.send(TOKEN);
        }
    }

    /** Nothing to receive from one channel: the default. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void orElse() {
        gmp.run(() -> {
            Select s = Select.of().recv(Chan.make(), v -> got++).orElse(() -> got--);
            for (int i = 0; i < N; i++) {
                s.run();
            }
        });
    }

    /** Nothing to receive from two channels. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void orElseOfTwo() {
        gmp.run(() -> {
            Select s = Select.of().recv(Chan.make(), v -> got++).recv(Chan.make(), v -> got++).orElse(() -> got--);
            for (int i = 0; i < N; i++) {
                s.run();
            }
        });
    }
}
