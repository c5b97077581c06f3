// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.gmp4j.agent.Points;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.points.Kernel;
import org.gmp4j.bench.points.KernelLoader;
import org.gmp4j.bench.points.Kernels;

/**
 * What points cost loops. Each JVM holds every kernel five times, compiled apart: plain, plain once more (what differs there
 * is noise), with points, with points that were armed once, and with points that are armed as by {@code points=eager} and have
 * stopped somebody. They run in turns; ratios are of medians.
 */
final class PointsCost {
    private static final long WARM_NANOS = 400_000_000;
    private static final String[] VARIANTS = {"plain again", "unarmed", "disarmed", "armed"};
    private static final int DISARMED = 3;
    private static final int ARMED = 4;
    private static final long STOP_EVERY_MILLIS = 1;
    private static final long STOP_FOR_NANOS = 20_000;

    private PointsCost() {
    }

    /** Runs the JVMs; prints the median ratio of each kernel, and the geometric mean of those. */
    static void measure(Child child, int runs) throws IOException, InterruptedException {
        child.out().println("loops with points against the same without: ratio of times, medians of " + runs + " JVMs");
        Map<String, List<double[]>> ratios = new LinkedHashMap<>();
        for (int i = 0; i < runs; i++) {
            for (String line : child.lines(PointsCost.class, false)) {
                String[] f = line.split(" ");
                ratios.computeIfAbsent(f[0], k -> new ArrayList<>())
                        .add(Arrays.stream(f).skip(1).mapToDouble(Double::parseDouble).toArray());
            }
        }
        child.out().println("  %-20s".formatted("") + Arrays.stream(VARIANTS).map(" %12s"::formatted).collect(Collectors.joining()));
        double[] logs = new double[VARIANTS.length];
        ratios.forEach((kernel, all) -> {
            double[] m = new double[VARIANTS.length];
            for (int v = 0; v < m.length; v++) {
                int at = v;
                m[v] = Estimate.median(all.stream().mapToDouble(r -> r[at]).toArray());
                logs[v] += Math.log(m[v]) / ratios.size();
            }
            row(child, kernel, m);
        });
        row(child, "geometric mean", Arrays.stream(logs).map(Math::exp).toArray());
    }

    private static void row(Child child, String name, double... r) {
        child.out().println("  %-20s".formatted(name)
                + Arrays.stream(r).mapToObj(x -> String.format(Locale.ROOT, " %12.3f", x)).collect(Collectors.joining()));
    }

    /** Prints a line for each kernel: its name and the ratios. The JVM's agent adds no points itself. */
    public static void main(String[] args) throws InterruptedException {
        for (String name : args.length > 0 ? List.of(args) : Kernels.NAMES) {
            KernelLoader[] loaders = {new KernelLoader(false), new KernelLoader(false), new KernelLoader(true),
                new KernelLoader(true), new KernelLoader(true)};
            Kernel[] copies = new Kernel[loaders.length];
            long result = 0;
            for (int i = 0; i < copies.length; i++) {
                copies[i] = loaders[i].kernel(name);
                Points.setEager(i == ARMED);
                result = copies[i].run();
            }
            Points.setEager(false);
            warm(copies);
            loaders[DISARMED].arm(copies[DISARMED]);
            warm(copies[DISARMED]);
            Points.disarmAll();
            warmWithStops(copies[ARMED]);
            warm(copies);
            double[] nanos = times(copies, result);
            System.out.println(name + Arrays.stream(nanos).skip(1).mapToObj(t -> " " + t / nanos[0]).collect(Collectors.joining()));
        }
    }

    /** Points are armed for a moment in each millisecond, so that C2 has seen them stop a goroutine. */
    private static void warmWithStops(Kernel kernel) throws InterruptedException {
        Thread stops = Thread.ofPlatform().start(() -> {
            try {
                for (;;) {
                    Thread.sleep(STOP_EVERY_MILLIS);
                    Points.setWanted(true);
                    long end = System.nanoTime() + STOP_FOR_NANOS;
                    while (System.nanoTime() < end) {
                        Thread.onSpinWait();
                    }
                    Points.setWanted(false);
                }
            } catch (InterruptedException e) {
                return; // Enough.
            }
        });
        warm(kernel);
        stops.interrupt();
        stops.join();
    }

    private static void warm(Kernel... copies) {
        for (Kernel k : copies) {
            long end = System.nanoTime() + WARM_NANOS / copies.length;
            while (System.nanoTime() < end) {
                k.run();
            }
        }
    }

    /** Returns the median time of each copy, each round in another order. */
    private static double[] times(Kernel[] copies, long result) {
        List<double[]> rounds = new ArrayList<>();
        long end = System.nanoTime() + Child.nanos() / 4;
        for (int round = 0; System.nanoTime() < end; round++) {
            double[] nanos = new double[copies.length];
            for (int i = 0; i < copies.length; i++) {
                int which = (i + round) % copies.length;
                long start = System.nanoTime();
                long r = copies[which].run();
                nanos[which] = System.nanoTime() - start;
                if (r != result) {
                    throw new IllegalStateException(copies[which] + ": " + r + ", not " + result);
                }
            }
            rounds.add(nanos);
        }
        double[] medians = new double[copies.length];
        for (int i = 0; i < copies.length; i++) {
            int which = i;
            medians[i] = Estimate.median(rounds.stream().mapToDouble(r -> r[which]).toArray());
        }
        return medians;
    }
}
