// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.gmp4j.bench.measure.Others;

/** What the peers printed, by row and fork. For one thread. */
final class Results {
    private record Key(Peer peer, int procs, String name) {
    }

    private final Map<Key, Map<Integer, List<Double>>> values = new HashMap<>();
    private final Map<Key, String> notes = new HashMap<>();
    private final Map<Peer, String> versions = new EnumMap<>(Peer.class);
    private final List<Catalogue.Work> works;
    private Others.Summary others = new Others.Summary(Double.NaN, 0);

    Results(List<Catalogue.Work> works) {
        this.works = works;
    }

    /** Returns the works that were, or are to be measured. */
    List<Catalogue.Work> works() {
        return works;
    }

    /** Returns the peers that took part, and their versions. */
    Map<Peer, String> versions() {
        return versions;
    }

    /** Returns the share of the CPUs that other processes had. */
    Others.Summary others() {
        return others;
    }

    void others(Others.Summary summary) {
        others = summary;
    }

    /** Adds a line of a peer's fork. */
    void add(Catalogue.Work work, Peer peer, int fork, Line line) {
        Key key = new Key(peer, work.procs(), line.work());
        if (line.hasValue()) {
            values.computeIfAbsent(key, k -> new HashMap<>())
                    .computeIfAbsent(fork, f -> new ArrayList<>())
                    .add(line.value());
        } else {
            notes.put(key, line.note());
        }
    }

    /** Notes why a fork gave no figures. */
    void failed(Catalogue.Work work, Peer peer, String why) {
        for (Catalogue.Row row : work.rows()) {
            notes.put(key(work, row, peer), why);
        }
    }

    private static Key key(Catalogue.Work work, Catalogue.Row row, Peer peer) {
        return new Key(peer, work.procs(), row.nameFor(peer));
    }

    /** Returns the figures by fork. A fork's figure is the median of its runs. */
    private Map<Integer, Double> forks(Catalogue.Work work, Catalogue.Row row, Peer peer) {
        Map<Integer, Double> forks = new HashMap<>();
        values.getOrDefault(key(work, row, peer), Map.of()).forEach(
                (fork, runs) -> forks.put(fork, Estimate.median(runs.stream().mapToDouble(d -> d).toArray())));
        return forks;
    }

    /** Returns a peer's figure. */
    Optional<Estimate> figure(Catalogue.Work work, Catalogue.Row row, Peer peer) {
        Map<Integer, Double> forks = forks(work, row, peer);
        return forks.isEmpty() ? Optional.empty() : Optional.of(Estimate.of(List.copyOf(forks.values())));
    }

    /** Ours divided by a peer's, fork by fork, each beside the one that ran after it. */
    Optional<Estimate> ratio(Catalogue.Work work, Catalogue.Row row, Peer peer) {
        Map<Integer, Double> theirs = forks(work, row, peer);
        List<Double> ratios = new ArrayList<>();
        forks(work, row, Peer.GMP4J).forEach((fork, our) -> {
            Double their = theirs.get(fork);
            if (their != null && their > 0) {
                ratios.add(our / their);
            }
        });
        return ratios.isEmpty() ? Optional.empty() : Optional.of(Estimate.of(ratios));
    }

    /** Returns why there is no figure; empty where there is one, or no reason is known. */
    String note(Catalogue.Work work, Catalogue.Row row, Peer peer) {
        Key key = key(work, row, peer);
        return values.containsKey(key) ? "" : notes.getOrDefault(key, "");
    }
}
