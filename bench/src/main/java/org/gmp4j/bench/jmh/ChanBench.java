// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;

/**
 * Channels between two goroutines, beside the JDK's queues in the same goroutines; the floor of a switch is in
 * {@link ParkBench}. For regressions.
 */
public class ChanBench extends GmpBench {
    private static final int N = 200_000;
    private static final int CAPACITY = 128;
    private static final Object TOKEN = new Object();

    /** How many Ps. */
    @Param({"1", "2"})
    int procs;

    @Override
    Gmp.Builder settings() {
        return Gmp.builder().procs(procs);
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

    /** {@link #roundTrip} through the JDK's, which spin before they park, to no use on one P. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void roundTripOfTheJdk() {
        gmp.run(() -> {
            BlockingQueue<Object> there = new SynchronousQueue<>();
            BlockingQueue<Object> back = new SynchronousQueue<>();
            Go.go(() -> {
                for (int i = 0; i < N; i++) {
                    put(back, take(there));
                }
            });
            for (int i = 0; i < N; i++) {
                put(there, TOKEN);
                Object _ = take(back);
            }
        });
    }

    /** {@link #buffered} through the JDK's. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void bufferedOfTheJdk() {
        gmp.run(() -> {
            BlockingQueue<Object> queue = new ArrayBlockingQueue<>(CAPACITY);
            Go.go(() -> {
                for (int i = 0; i < N; i++) {
                    put(queue, TOKEN);
                }
            });
            for (int i = 0; i < N; i++) {
                Object _ = take(queue);
            }
        });
    }

    private static void put(BlockingQueue<Object> queue, Object element) {
        try {
            queue.put(element);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object take(BlockingQueue<Object> queue) {
        try {
            return queue.take();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
