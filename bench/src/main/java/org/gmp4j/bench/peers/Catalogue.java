// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** All works, and the rows that they fill. */
final class Catalogue {
    private static final Set<Peer> ALL = EnumSet.allOf(Peer.class);
    private static final Set<Peer> LIGHT = EnumSet.complementOf(EnumSet.of(Peer.THREADS));
    private static final Set<Peer> SELECTING = EnumSet.of(Peer.GMP4J, Peer.GO, Peer.KOTLIN);
    private static final Set<Peer> TRACING = EnumSet.of(Peer.GMP4J, Peer.GO);
    private static final String SPIN_GO = "spin=go";
    private static final String SPIN_LATENCY = "spin=latency";

    /** What our settings are called in a row's name. */
    private static final Pattern VARIANT = Pattern.compile("/(spin|quantum)=[^/]+");

    private static final List<Work> WORKS = List.of(
            new Work("yield", 1, LIGHT, row("yield", "two let each other go first, a switch")),
            new Work("pingpong", 1, LIGHT, row("pingpong/procs=1", "unbuffered channel, there and back")),
            new Work("pingpong", 2, ALL, row("pingpong/procs=2", "unbuffered channel, there and back")),
            new Work("buffered", 1, LIGHT, row("buffered/procs=1", "channel with room for 128, an element")),
            new Work("buffered", 2, ALL, row("buffered/procs=2", "channel with room for 128, an element")),
            new Work("spawn", 1, LIGHT,
                    row("spawn/batch=100", "start, run, end, 100 at a time, each"),
                    row("spawn/batch=10000", "start, run, end, 10,000 at a time, each")),
            new Work("skynet", 1, LIGHT, row("skynet/procs=1", "tree with 100,000 leaves, a leaf")),
            new Work("skynet", 2, LIGHT, row("skynet/procs=2", "tree with 100,000 leaves, a leaf")),
            new Work("ring", 1, LIGHT, row("ring/procs=1", "token through a ring of 1000, a hop")),
            new Work("ring", 2, LIGHT, row("ring/procs=2", "token through a ring of 1000, a hop")),
            new Work("select", 1, SELECTING, row("select/procs=1", "select of two and a send, nobody waits")),
            new Work("selectfed", 1, SELECTING,
                    row("selectfed/cap=0/procs=1", "select of two fed by two, unbuffered, an element"),
                    row("selectfed/cap=128/procs=1", "select of two fed by two, room for 128, an element")),
            new Work("mutex", 1, ALL, row("mutex", "lock and unlock, nobody else there")),
            new Work("contended", 2, ALL, row("contended", "lock and unlock, 4 users on 2 Ps")),
            new Work("timerstop", 1, LIGHT, row("timerstop", "timer made and stopped")),
            new Work("timerreset", 1, LIGHT, row("timerreset", "running timer reset")),
            new Work("sleep", 1, List.of(SPIN_LATENCY, SPIN_GO), ALL,
                    row("sleep/spin=latency/p50", "lateness of a sleep of 50 µs, median"),
                    row("sleep/spin=latency/p99", "lateness of a sleep of 50 µs, p99"),
                    row("sleep/spin=go/p50", "lateness of a sleep of 50 µs, median"),
                    row("sleep/spin=go/p99", "lateness of a sleep of 50 µs, p99")),
            new Work("wake", 2, List.of(SPIN_LATENCY, SPIN_GO), ALL,
                    row("wake/spin=latency/p50", "start on another P, median"),
                    row("wake/spin=latency/p99", "start on another P, p99"),
                    row("wake/spin=go/p50", "start on another P, median"),
                    row("wake/spin=go/p99", "start on another P, p99")),
            new Work("hogs", 1, List.of("", "quantum=1ms"), LIGHT,
                    row("hogs/1/p50", "a turn beside 1 hog, quantum 10 ms, median"),
                    row("hogs/4/p50", "a turn beside 4 hogs, quantum 10 ms, median"),
                    row("hogs/quantum=1ms/1/p50", "a turn beside 1 hog, ours with quantum 1 ms, median"),
                    row("hogs/quantum=1ms/4/p50", "a turn beside 4 hogs, ours with quantum 1 ms, median")),
            new Work("blocked", 1, List.of(SPIN_GO, SPIN_LATENCY), ALL,
                    row("blocked/spin=go/p50", "call that blocks 2 ms to the next one's start, median"),
                    row("blocked/spin=go/p99", "call that blocks 2 ms to the next one's start, p99"),
                    row("blocked/spin=latency/p50", "call that blocks 2 ms to the next one's start, median"),
                    row("blocked/spin=latency/p99", "call that blocks 2 ms to the next one's start, p99")),
            new Work("tree", 2, LIGHT, row("tree/procs=2", "unbalanced tree of starts, a leaf of 100 ns")),
            new Work("fan", 2, LIGHT, row("fan/procs=2", "fan-out to 8 and fan-in, an element of 100 ns")),
            new Work("storm", 2, LIGHT, row("storm/procs=2", "one wakes 1000, until all have run, each")),
            traced(1),
            traced(2),
            new Work("parked", 1, LIGHT,
                    new Row("parked", "memory of one of 500,000 that wait", "bytes")),
            new Work("idle", 2, ALL, new Row("idle", "CPU of a program that wakes every 10 ms", "ms/s")));

    private Catalogue() {
    }

    /**
     * A line of the results. Less is better in all.
     *
     * @param name ours; others' is {@link #plainName}
     * @param title for people
     * @param unit of its figures
     */
    record Row(String name, String title, String unit) {
        /** Returns the name without our setting in it. */
        String plainName() {
            return VARIANT.matcher(name).replaceFirst("");
        }

        /** Returns the name of a peer's line. */
        String nameFor(Peer peer) {
            return peer == Peer.GMP4J ? name : plainName();
        }
    }

    /**
     * What one process does.
     *
     * @param name the argument for it
     * @param procs on how many Ps
     * @param variants settings of ours that it is done with, or one empty string
     * @param peers the peers that do it
     * @param rows what comes of it
     */
    record Work(String name, int procs, List<String> variants, Set<Peer> peers, List<Row> rows) {
        Work(String name, int procs, List<String> variants, Set<Peer> peers, Row... rows) {
            this(name, procs, variants, peers, List.of(rows));
        }

        Work(String name, int procs, Set<Peer> peers, Row... rows) {
            this(name, procs, List.of(""), peers, List.of(rows));
        }

        /** Returns whether ours needs preemption points. */
        boolean points() {
            return name.equals("hogs");
        }

        /** Returns the title, which differs from those of other rows. */
        String title() {
            return name + ", " + procs + (procs == 1 ? " P" : " Ps");
        }

        private boolean matches(Pattern p) {
            return p.matcher(name).find() || rows.stream().anyMatch(r -> p.matcher(r.name()).find());
        }
    }

    private static Work traced(int procs) {
        String suffix = "/procs=" + procs;
        return new Work("traced", procs, TRACING,
                row("traced/off" + suffix, "unbuffered channel, there and back, no trace"),
                row("traced/on" + suffix, "the same while an execution trace is written"),
                new Row("traced/cost" + suffix, "with a trace, divided by without, in turns", "times"));
    }

    private static Row row(String name, String title) {
        return new Row(name, title, "ns");
    }

    /** Returns the works of which a name, or a row's name, contains one of the patterns; without patterns all. */
    static List<Work> select(List<Pattern> patterns) {
        List<Work> chosen = new ArrayList<>();
        for (Work w : WORKS) {
            if (patterns.isEmpty() || patterns.stream().anyMatch(w::matches)) {
                chosen.add(w);
            }
        }
        return chosen;
    }
}
