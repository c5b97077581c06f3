// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

import org.gmp4j.Gmp;
import org.gmp4j.agent.Points;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.points.Kernel;
import org.gmp4j.bench.points.Kernels;
import org.gmp4j.sync.WaitGroup;

/** Two goroutines that never yield share a P: the work of both against the same work of one, in turns. */
final class Throughput {
    private static final long PART_NANOS = 300_000_000;
    private static final List<Duration> QUANTA = List.of(Duration.ofMillis(10), Duration.ofMillis(1), Duration.ofNanos(200_000));
    private static volatile long sink;

    private Throughput() {
    }

    /** Prints all lines of the figure. */
    public static void main(String[] args) {
        for (Duration quantum : QUANTA) {
            System.out.println("two hogs on 1 P, quantum " + quantum.toNanos() / 1000 + " µs, against one");
            measure(quantum, "vectorised sum", Kernels.VectorSum::new);
            measure(quantum, "matrix product", Kernels.MatrixProduct::new);
            measure(quantum, "fib", Kernels.Fib::new);
            measure(quantum, "sort", Kernels.Sort::new);
        }
    }

    private static void measure(Duration quantum, String name, Supplier<Kernel> kernel) {
        List<Double> ratios = new ArrayList<>();
        try (Gmp gmp = Gmp.builder().procs(1).quantum(quantum).build()) {
            int[] rounds = {1};
            gmp.run(() -> {
                long end = System.nanoTime() + 2 * PART_NANOS;
                Kernel k = kernel.get();
                while (System.nanoTime() < end) {
                    rounds(k, 100);
                }
                long start = System.nanoTime();
                rounds(k, 100);
                rounds[0] = (int) Math.max(1, PART_NANOS * 100 / (System.nanoTime() - start));
            });
            long end = System.nanoTime() + 2 * Child.nanos();
            for (int i = 0; i < 2 || System.nanoTime() < end; i++) {
                double one = time(gmp, kernel, 1, 2 * rounds[0]);
                double two = time(gmp, kernel, 2, rounds[0]);
                if (i > 0) {
                    ratios.add(two / one);
                }
            }
        }
        System.out.println(String.format(Locale.ROOT, "  %-44s time %.3f of one's, armed %d times", name,
                Estimate.median(ratios.stream().mapToDouble(Double::doubleValue).toArray()), Points.counters().armings()));
    }

    private static double time(Gmp gmp, Supplier<Kernel> kernel, int hogs, int rounds) {
        long[] nanos = new long[1];
        gmp.run(() -> {
            WaitGroup done = new WaitGroup();
            long start = System.nanoTime();
            for (int i = 0; i < hogs; i++) {
                Kernel k = kernel.get();
                done.go(() -> rounds(k, rounds));
            }
            done.await();
            nanos[0] = System.nanoTime() - start;
        });
        return nanos[0];
    }

    private static void rounds(Kernel k, int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += k.run();
        }
        sink = sum;
    }
}
