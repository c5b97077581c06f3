// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.report.Histograms;
import org.gmp4j.bench.report.Verdict;

/** The turns of all variants. For one thread. */
final class Results {
    /** Of two variants that do not differ one is ahead in so many turns, all of them, once in 16 times; in three it would be in 4. */
    static final int LEAST_TURNS = 5;

    private final List<Variant> variants;
    private final Map<Variant, List<Turn>> turns = new LinkedHashMap<>();

    /** Makes empty results. The others are compared with the first variant. */
    Results(List<Variant> variants) {
        this.variants = List.copyOf(variants);
        variants.forEach(v -> turns.put(v, new ArrayList<>()));
    }

    List<Variant> variants() {
        return variants;
    }

    /** Returns the variants that are compared with the first. */
    List<Variant> others() {
        return variants.subList(1, variants.size());
    }

    Variant first() {
        return variants.getFirst();
    }

    void add(Variant v, Turn turn) {
        turns.get(v).add(turn);
    }

    List<Turn> turns(Variant v) {
        return turns.get(v);
    }

    /** Returns the median of the turns; empty where none has a value. */
    Optional<Estimate> figure(Variant v, Figure figure) {
        return estimate(turns(v).stream().map(figure.of()::applyAsDouble).toList());
    }

    /** Returns a variant's figure divided by the first variant's, turn by turn. */
    Optional<Estimate> ratio(Variant v, Figure figure) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(turns(v).size(), turns(first()).size()); i++) {
            ratios.add(figure.of().applyAsDouble(turns(v).get(i)) / figure.of().applyAsDouble(turns(first()).get(i)));
        }
        return estimate(ratios);
    }

    /** Returns the turns of the first variant divided by their median. Their range is the noise. */
    Optional<Estimate> noise(Figure figure) {
        return figure(first(), figure).flatMap(middle -> estimate(turns(first()).stream()
                .map(t -> figure.of().applyAsDouble(t) / middle.median())
                .toList()));
    }

    private static Optional<Estimate> estimate(List<Double> values) {
        List<Double> finite = values.stream().filter(Double::isFinite).toList();
        return finite.isEmpty() ? Optional.empty() : Optional.of(Estimate.of(finite));
    }

    /** Returns the verdict on a ratio; empty where there is none, or too few turns. */
    Optional<Verdict> verdict(Variant v, Figure figure) {
        Optional<Estimate> ratio = ratio(v, figure);
        Optional<Estimate> noise = noise(figure);
        if (!figure.isJudged() || ratio.isEmpty() || noise.isEmpty() || ratio.get().forks() < LEAST_TURNS) {
            return Optional.empty();
        }
        return Optional.of(Verdict.of(ratio.get().low(), ratio.get().median(), ratio.get().high(), noise.get().low(), noise.get().high()));
    }

    /** Latencies of all turns together. */
    Histogram latencies(Variant v, Function<Tape, Histogram> of) {
        Histogram all = Histograms.latencies();
        turns(v).forEach(t -> all.add(of.apply(t.tape())));
        return all;
    }
}
