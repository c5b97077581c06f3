// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import com.sun.management.OperatingSystemMXBean;
import org.gmp4j.bench.peers.Estimate;

/** Measures the sizes of a series in a JVM of its own. */
final class Scaling {
    private static final int LEAST_RUNS = 3;
    private static final int LEAST_OPERATIONS = 10_000;
    static final int BURSTS = 4;
    private static final long DRAIN = 30_000_000L;
    private static final long MOST_DRAIN = 200_000_000L;

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Scaling() {
    }

    /**
     * The cost of one operation.
     *
     * @param size of what
     * @param wall median nanoseconds
     * @param cpu mean nanoseconds of CPU of the whole process
     * @param gc mean nanoseconds of wall time in collections
     */
    record Point(int size, double wall, double cpu, double gc) {
    }

    /**
     * A series as measured.
     *
     * @param series which
     * @param points by size
     */
    record Result(Series series, List<Point> points) {
        double wallExponent() {
            return exponent(points.stream().mapToDouble(Point::wall).toArray());
        }

        double cpuExponent() {
            return exponent(points.stream().mapToDouble(Point::cpu).toArray());
        }

        /** Returns the exponent over the sizes from which the expected one should hold. */
        private double exponent(double[] costs) {
            int skip = (int) points.stream().filter(p -> p.size() < series.from()).count();
            double[] sizes = points.stream().skip(skip).mapToDouble(Point::size).toArray();
            return Fit.exponent(sizes, Arrays.copyOfRange(costs, skip, costs.length));
        }
    }

    /** Starts the JVM. */
    static Result measure(Series series, List<Integer> sizes, double seconds) throws IOException, InterruptedException {
        List<Point> points = new ArrayList<>();
        List<String> args = new ArrayList<>(List.of(series.name(), Double.toString(seconds)));
        sizes.forEach(size -> args.add(size.toString()));
        long heap = series.heap(sizes.getLast());
        List<String> options = new ArrayList<>(List.of("-D" + Loads.PROPERTY + "=" + operations(seconds)));
        if (heap > Runtime.getRuntime().maxMemory()) {
            options.add("-Xmx" + heap);
        }
        Jvm.run(options, Scaling.class, line -> {
            String[] f = line.split(" ");
            points.add(new Point(Integer.parseInt(f[0]), Double.parseDouble(f[1]), Double.parseDouble(f[2]),
                    Double.parseDouble(f[3])));
        }, args.toArray(String[]::new));
        return new Result(series, points);
    }

    /** Returns the number of operations of one run, if all runs of a point may take so many seconds. */
    static int operations(double seconds) {
        return (int) Math.clamp(seconds * 1e6, LEAST_OPERATIONS, Loads.MOST_OPERATIONS);
    }

    // ---- in the JVM

    /** Arguments: the series, seconds a point, sizes. Prints a point a line. */
    public static void main(String[] args) throws Exception {
        Series series = Series.valueOf(args[0]);
        long nanos = (long) (Double.parseDouble(args[1]) * 1e9);
        List<Integer> sizes = List.of(args).subList(2, args.length).stream().map(Integer::valueOf).toList();
        for (int i = 0; i < Math.min(3, sizes.size()); i++) { // Loads that live long would keep interpreted frames.
            try (Load load = series.load.apply(sizes.get(i))) {
                for (int burst = 0; burst < BURSTS; burst++) {
                    warmUp(load, nanos / BURSTS);
                }
            }
        }
        for (int size : sizes) {
            try (Load load = series.load.apply(size)) {
                warmUp(load, nanos / 4);
                System.out.println(size + " " + measure(load, nanos));
            }
        }
    }

    /** Runs the load for {@code nanos}, and then leaves the CPUs to the JIT until it has compiled what is queued. */
    private static void warmUp(Load load, long nanos) throws Exception {
        long end = System.nanoTime() + nanos;
        do {
            long _ = load.gmp.call(load::run);
        } while (System.nanoTime() - end < 0);
        letJitFinish(nanos);
    }

    /** Waits until the JIT has nothing to compile, but for {@code nanos} and for 0.2 s at most. */
    static void letJitFinish(long nanos) {
        long end = System.nanoTime() + Math.min(MOST_DRAIN, nanos);
        long last = -1;
        for (long now = jitMillis(); now != last && System.nanoTime() - end < 0; now = jitMillis()) {
            last = now;
            LockSupport.parkNanos(DRAIN);
        }
    }

    private static long jitMillis() {
        return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
    }

    /** Nanoseconds of an operation: wall, CPU, collections. */
    private static String measure(Load load, long nanos) throws Exception {
        List<Double> walls = new ArrayList<>();
        long operations = 0;
        long cpu = SYSTEM.getProcessCpuTime(); // In steps of 10 ms: over all runs.
        long gc = gcMillis();
        long end = System.nanoTime() + nanos;
        while (walls.size() < LEAST_RUNS || System.nanoTime() - end < 0) {
            long[] run = load.gmp.call(() -> { // Timed inside: it may wait for its turn among many.
                long start = System.nanoTime();
                long n = load.run();
                return new long[] {System.nanoTime() - start, n};
            });
            walls.add(run[0] / (double) run[1]);
            operations += run[1];
        }
        cpu = SYSTEM.getProcessCpuTime() - cpu;
        gc = gcMillis() - gc;
        double n = operations;
        return Estimate.median(walls.stream().mapToDouble(d -> d).toArray()) + " " + cpu / n + " " + gc * 1e6 / n;
    }

    /** Returns the milliseconds in which collections stopped the program. */
    private static long gcMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().filter(b -> !b.getName().contains("Concurrent"))
                .mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
    }
}
