// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.time.Duration;
import java.util.concurrent.Callable;

import org.HdrHistogram.Histogram;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
import org.gmp4j.sync.WaitGroup;

/** A goroutine blocks its thread for 2 ms on 1 P while another is runnable: from the call to the other's start. */
final class Blocked {
    private static final int BLOCK_MICROS = 2_000;
    /** Shorter, so that there are enough of them for the compiler. */
    private static final int WARMUP_MICROS = 100;

    private static final long WARMUP_NANOS = 4_000_000_000L;

    private Blocked() {
    }

    /** Prints all lines of the figure. */
    public static void main(String[] args) {
        System.out.println("from a call that blocks 2 ms to the next goroutine on its P");
        SpinPolicy latency = SpinPolicy.latency(Duration.ofMillis(5));
        run(SpinPolicy.go(), WARMUP_NANOS, Child.histogram(), () -> Go.blocking(usleep(WARMUP_MICROS)));
        Callable<Void> call = usleep(BLOCK_MICROS);
        measure("Go.blocking", SpinPolicy.go(), () -> Go.blocking(call));
        measure("not annotated", SpinPolicy.go(), call);
        measure("Go.blocking, latency", latency, () -> Go.blocking(call));
        measure("not annotated, latency", latency, call);
    }

    private static Callable<Void> usleep(int micros) {
        return () -> {
            Native.usleep(micros);
            return null;
        };
    }

    private static void measure(String name, SpinPolicy spin, Callable<?> call) {
        Histogram h = Child.histogram();
        run(spin, Child.nanos(), h, call);
        System.out.println(Child.line(name, h));
    }

    private static void run(SpinPolicy spin, long nanos, Histogram h, Callable<?> call) {
        try (Gmp gmp = Gmp.builder().procs(1).spin(spin).build()) {
            gmp.run(() -> calls(nanos, h, call));
        }
    }

    private static void calls(long nanos, Histogram h, Callable<?> call) {
        long end = System.nanoTime() + nanos;
        long[] start = new long[1];
        while (System.nanoTime() < end) {
            WaitGroup other = new WaitGroup();
            start[0] = System.nanoTime(); // The other may run at once, should this one's quantum end here.
            other.go(() -> h.recordValue(System.nanoTime() - start[0]));
            start[0] = System.nanoTime();
            try {
                Object _ = call.call();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            other.await();
        }
    }
}
