// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.affinity;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Gmp;
import org.gmp4j.bench.measure.Others;
import org.gmp4j.bench.report.Verdict;

/**
 * All variants on one workload, in rounds: each round has every variant once and the first one twice, in a random order, each with a
 * scheduler of its own. Ratios are of one round, so that what the machine does in minutes is in both. How the first variant
 * compares with itself is the noise. A round before them all is not counted.
 */
final class Experiment {
    private static final double NANOS = 1e9;
    private static final String[] DISTANCES = {"core", "cache", "node", "package", "remote"};

    /** One turn. */
    record Turn(double nanosAnOperation, double stolen, double[] over) {
    }

    final Workload workload;
    final List<Variant> variants;
    /** A list for each variant, and one more for the second turn of the first. */
    final List<List<Turn>> turns = new ArrayList<>();
    private final int procs;
    private final double seconds;

    Experiment(Workload workload, List<Variant> variants, int procs, double seconds) {
        this.workload = workload;
        this.variants = List.copyOf(variants);
        this.procs = procs;
        this.seconds = seconds;
        for (int i = 0; i <= variants.size(); i++) {
            turns.add(new ArrayList<>());
        }
    }

    void run(int rounds, long seed, Others others) {
        Random random = new Random(seed);
        for (int round = -1; round < rounds; round++) {
            List<Integer> order = new ArrayList<>();
            for (int i = 0; i < turns.size(); i++) {
                order.add(i);
            }
            Collections.shuffle(order, random);
            others.begin();
            Turn[] turn = round(order);
            if (round < 0) {
                continue;
            }
            if (others.again()) {
                Turn[] second = round(order);
                turn = others.better() ? second : turn;
            }
            for (int i = 0; i < turn.length; i++) {
                turns.get(i).add(turn[i]);
            }
        }
    }

    /** Runs each variant once, in this order. */
    private Turn[] round(List<Integer> order) {
        Turn[] round = new Turn[order.size()];
        for (int i : order) {
            round[i] = turn(variants.get(i == variants.size() ? 0 : i));
        }
        return round;
    }

    private Turn turn(Variant v) {
        try (Gmp gmp = Gmp.builder().procs(procs).affinity(v.affinity()).steal(v.order()).build()) {
            AtomicLong operations = new AtomicLong();
            long start = System.nanoTime();
            gmp.run(() -> workload.run(procs, start + (long) (seconds * NANOS), operations));
            double took = System.nanoTime() - start;
            Map<String, Object> metrics = gmp.metrics().read();
            double n = Math.max(1, operations.get());
            double[] over = new double[DISTANCES.length];
            for (int d = 0; d < over.length; d++) {
                over[d] = (long) metrics.get("/sched/steals/moved/" + DISTANCES[d] + ":goroutines") / n;
            }
            return new Turn(took / n, (long) metrics.get("/sched/steals/moved/total:goroutines") / n, over);
        }
    }

    /** Returns the time of variant {@code i} divided by that of the first, with an interval; exactly 1 for variant 0. */
    Bootstrap ratio(int i) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < turns.getFirst().size(); round++) {
            ratios.add(turns.get(i).get(round).nanosAnOperation / turns.getFirst().get(round).nanosAnOperation);
        }
        return Bootstrap.of(ratios, 1);
    }

    /** Returns the first variant's second runs divided by its first ones. */
    Bootstrap noise() {
        return ratio(variants.size());
    }

    /** Nanoseconds an operation, with an interval. */
    Bootstrap time(int i) {
        return Bootstrap.of(turns.get(i).stream().map(Turn::nanosAnOperation).toList(), 1);
    }

    Verdict verdict(int i) {
        return verdict(ratio(i), noise());
    }

    static Verdict verdict(Bootstrap ratio, Bootstrap noise) {
        return Verdict.of(ratio.low(), ratio.median(), ratio.high(), noise.low(), noise.high());
    }

    /** Goroutines stolen in 1,000 operations. */
    double stolen(int i) {
        return 1000 * turns.get(i).stream().mapToDouble(Turn::stolen).average().orElse(0);
    }

    /** Returns the steals from each distance; empty where nothing is placed. */
    Map<String, Double> over(int i) {
        Map<String, Double> over = new LinkedHashMap<>();
        if (!variants.get(i).affinity().equals(org.gmp4j.affinity.Affinity.none())) {
            for (int d = 0; d < DISTANCES.length; d++) {
                int at = d;
                over.put(DISTANCES[d], 1000 * turns.get(i).stream().mapToDouble(t -> t.over[at]).average().orElse(0));
            }
        }
        return over;
    }
}
