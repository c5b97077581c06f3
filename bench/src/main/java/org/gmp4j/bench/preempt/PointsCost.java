// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gmp4j.agent.Points;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.points.Kernel;
import org.gmp4j.bench.points.KernelLoader;
import org.gmp4j.bench.points.Kernels;

/**
 * What points cost loops. Each JVM holds every kernel four times, compiled apart: plain, plain once more (what differs there
 * is noise), with points, and with points that were armed once. They run in turns; ratios are of medians.
 */
final class PointsCost {
    private static final long WARM_NANOS = 400_000_000;
    private static final String[] VARIANTS = {"plain again", "unarmed", "disarmed"};

    private PointsCost() {}

    /** Runs the JVMs; prints the median ratio of each kernel, and the geometric mean of those. */
    static void measure(Child child, int runs) throws IOException, InterruptedException {
        child.out().println("loops with points against the same without: ratio of times, medians of " + runs + " JVMs");
        Map<String, List<double[]>> ratios = new LinkedHashMap<>();
        for (int i = 0; i < runs; i++) {
            for (String line : child.lines(PointsCost.class, false)) {
                String[] f = line.split(" ");
                double[] r = {Double.parseDouble(f[1]), Double.parseDouble(f[2]), Double.parseDouble(f[3])};
                ratios.computeIfAbsent(f[0], k -> new ArrayList<>()).add(r);
            }
        }
        child.out().printf(Locale.ROOT, "  %-20s %12s %12s %12s%n", "", VARIANTS[0], VARIANTS[1], VARIANTS[2]);
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
        row(child, "geometric mean", Math.exp(logs[0]), Math.exp(logs[1]), Math.exp(logs[2]));
    }

    private static void row(Child child, String name, double... r) {
        child.out().printf(Locale.ROOT, "  %-20s %12.3f %12.3f %12.3f%n", name, r[0], r[1], r[2]);
    }

    /** In a JVM whose agent adds no points itself: a line a kernel, its name and three ratios. */
    public static void main(String[] args) {
        for (String name : args.length > 0 ? List.of(args) : Kernels.NAMES) {
            KernelLoader[] loaders = {new KernelLoader(false), new KernelLoader(false), new KernelLoader(true),
                new KernelLoader(true)};
            Kernel[] copies = new Kernel[loaders.length];
            long result = 0;
            for (int i = 0; i < copies.length; i++) {
                copies[i] = loaders[i].kernel(name);
                result = copies[i].run();
            }
            warm(copies);
            int last = copies.length - 1;
            loaders[last].arm(copies[last]);
            warm(copies[last]);
            Points.disarmAll();
            warm(copies);
            double[] nanos = times(copies, result);
            System.out.println(name + " " + nanos[1] / nanos[0] + " " + nanos[2] / nanos[0] + " " + nanos[3] / nanos[0]);
        }
    }

    private static void warm(Kernel... copies) {
        for (Kernel k : copies) {
            long end = System.nanoTime() + WARM_NANOS / copies.length;
            while (System.nanoTime() < end) {
                k.run();
            }
        }
    }

    /** The median time of each, each round in another order. */
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
