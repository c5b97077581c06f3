// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.TimeUnit;
import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
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

/** Channels between two goroutines. For regressions. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ChanBench {
    private static final int N = 200_000;
    private static final int CAPACITY = 128;
    private static final Object TOKEN = new Object();

    /** How many Ps. */
    @Param({"1", "2"})
    int procs;

    private Gmp gmp;

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

    /** There and back on two unbuffered channels: two switches. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void roundTrip() {
        gmp.run(() -> {
            Chan<Object> there = Chan.make();
            Chan<Object> back = Chan.make();
            Go.go(() -> {
                for (int i = 0; i < N; i++) {
                    back.send(there.recv());
                }
            });
            for (int i = 0; i < N; i++) {
                there.send(TOKEN);
                back.recv();
            }
        });
    }

    /** One element through a buffer of 128. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void buffered() {
        gmp.run(() -> {
            Chan<Object> ch = Chan.make(CAPACITY);
            Go.go(() -> {
                for (int i = 0; i < N; i++) {
                    ch.send(TOKEN);
                }
            });
            for (int i = 0; i < N; i++) {
                ch.recv();
            }
        });
    }

    /** {@link #roundTrip} of longs. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void roundTripLong() {
        gmp.run(() -> {
            LongChan there = LongChan.make();
            LongChan back = LongChan.make();
            Go.go(() -> {
                for (int i = 0; i < N; i++) {
                    back.send(there.recv());
                }
            });
            for (int i = 0; i < N; i++) {
                there.send(i);
                back.recv();
            }
        });
    }

    /** {@link #buffered} for longs. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void bufferedLong() {
        gmp.run(() -> {
            LongChan ch = LongChan.make(CAPACITY);
            Go.go(() -> {
                for (int i = 0; i < N; i++) {
                    ch.send(i);
                }
            });
            for (int i = 0; i < N; i++) {
                ch.recv();
            }
        });
    }
}
