// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.report.Histograms;

/** What the runs found, by load, server and round. For one thread. */
final class Results {
    private record Key(Load load, Variant variant) {
    }

    private final List<Load> loads;
    private final List<Variant> variants;
    private final Map<Key, Map<Integer, Figures>> figures = new LinkedHashMap<>();
    private final Map<Key, List<String>> failures = new LinkedHashMap<>();
    private final Map<Variant.Peer, String> versions = new LinkedHashMap<>();
    private final Map<Variant, String> missing = new LinkedHashMap<>();

    Results(List<Load> loads, List<Variant> variants) {
        this.loads = List.copyOf(loads);
        this.variants = List.copyOf(variants);
    }

    List<Load> loads() {
        return loads;
    }

    /** Returns the loads of one mix. */
    List<Load> loads(Mix mix) {
        return loads.stream().filter(l -> l.mix() == mix).toList();
    }

    List<Mix> mixes() {
        return loads.stream().map(Load::mix).distinct().toList();
    }

    List<Variant> variants() {
        return variants;
    }

    /** Returns the peers that took part, and their versions. */
    Map<Variant.Peer, String> versions() {
        return versions;
    }

    /** Returns the variants that could not take part, and why, in a sentence without its end. */
    Map<Variant, String> missing() {
        return missing;
    }

    void add(Load load, Variant variant, int round, Figures f) {
        figures.computeIfAbsent(new Key(load, variant), _ -> new TreeMap<>()).put(round, f);
    }

    /** Notes why a run gave no figures. */
    void failed(Load load, Variant variant, String why) {
        failures.computeIfAbsent(new Key(load, variant), _ -> new ArrayList<>()).add(why);
    }

    boolean isEmpty() {
        return figures.isEmpty();
    }

    /** Returns the figures by round, without rounds that failed. */
    Map<Integer, Figures> rounds(Load load, Variant variant) {
        return figures.getOrDefault(new Key(load, variant), Map.of());
    }

    /** Returns why some runs have no figures; empty where none failed. */
    List<String> failures(Load load, Variant variant) {
        return failures.getOrDefault(new Key(load, variant), List.of());
    }

    /** Returns the median of the rounds. */
    Optional<Estimate> figure(Load load, Variant variant, Metric metric) {
        List<Double> values = rounds(load, variant).values().stream().map(metric::of).filter(Double::isFinite).toList();
        return values.isEmpty() ? Optional.empty() : Optional.of(Estimate.of(values));
    }

    /** Returns one variant's figure divided by the other's, round by round. */
    Optional<Estimate> ratio(Load load, Variant variant, Variant other, Metric metric) {
        List<Double> ratios = new ArrayList<>();
        rounds(load, variant).forEach((round, f) -> {
            Figures theirs = rounds(load, other).get(round);
            double ratio = theirs == null ? Double.NaN : metric.of(f) / metric.of(theirs);
            if (Double.isFinite(ratio)) {
                ratios.add(ratio);
            }
        });
        return ratios.isEmpty() ? Optional.empty() : Optional.of(Estimate.of(ratios));
    }

    /** Latencies of all rounds together; empty where there are none. */
    Histogram latencies(Load load, Variant variant) {
        Histogram all = Histograms.latencies();
        rounds(load, variant).values().forEach(f -> all.add(f.tally().shorts()));
        return all;
    }

    /** Returns the percentage of the server's CPU that others had in the worst run. */
    double others() {
        return figures.values().stream()
                .flatMap(rounds -> rounds.values().stream())
                .mapToDouble(Figures::othersPercent)
                .max()
                .orElse(0);
    }

    /** Returns the client's own lateness in the worst run, at p99. */
    long clientLate() {
        return figures.values().stream()
                .flatMap(rounds -> rounds.values().stream())
                .mapToLong(f -> f.tally().late().getValueAtPercentile(99))
                .max()
                .orElse(0);
    }
}
