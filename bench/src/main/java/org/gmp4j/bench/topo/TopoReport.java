// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.topo;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.report.Cpus;
import org.gmp4j.bench.report.Format;

/** A machine as a text tree and as a map for JSON. */
final class TopoReport {
    private static final int SHOWN_PS = 8;
    private static final int MIB = 20;

    final Topology topology;
    final Topology whole;
    private final List<Affinity> policies;

    TopoReport(Topology topology, List<Affinity> policies) {
        this.topology = topology;
        this.policies = policies;
        this.whole = topology.whole();
    }

    /** Things by number, in order: packages of a machine, nodes of a package and so on. */
    static Map<Integer, List<Topology.Cpu>> by(List<Topology.Cpu> cpus, ToIntFunction<Topology.Cpu> key) {
        return cpus.stream().collect(Collectors.groupingBy(key::applyAsInt, TreeMap::new, Collectors.toList()));
    }

    static String list(List<Topology.Cpu> cpus) {
        BitSet set = new BitSet();
        cpus.forEach(c -> set.set(c.id()));
        return list(set);
    }

    static String list(BitSet set) {
        return Cpus.list(set);
    }

    /** Returns the last data cache of a CPU. */
    static Optional<Topology.Cache> lastCache(Topology.Cpu cpu) {
        return cpu.caches().stream().filter(c -> c.type() != Topology.CacheType.INSTRUCTION)
                .max(Comparator.comparingInt(Topology.Cache::level));
    }

    static String size(long bytes) {
        if (bytes == 0) {
            return "";
        }
        return bytes % (1L << 30) == 0 ? " " + (bytes >> 30) + " GiB"
                : bytes % (1 << MIB) == 0 ? " " + (bytes >> MIB) + " MiB" : " " + Format.plain(bytes / 1024.0) + " KiB";
    }

    static String cacheName(Topology.Cache c) {
        String letter = switch (c.type()) {
            case DATA -> "d";
            case INSTRUCTION -> "i";
            case UNIFIED -> "";
        };
        return "L" + c.level() + letter + size(c.bytes());
    }

    private BitSet without(BitSet less) {
        BitSet rest = topology.online();
        rest.andNot(less);
        return rest;
    }

    /** Returns the tree, in several lines. */
    String text() {
        StringBuilder t = new StringBuilder();
        BitSet refused = without(topology.allowed());
        line(t, 0, whole.cpus().size() + " CPUs online (" + list(topology.online()) + "), " + topology.cpus().size() + " usable ("
                + list(topology.allowed()) + ")");
        if (!refused.isEmpty()) {
            line(t, 0, "not usable: " + list(refused));
        }
        if (!topology.isolated().isEmpty()) {
            line(t, 0, "isolated: " + list(topology.isolated()));
        }
        topology.kinds().forEach((kind, cpus) -> line(t, 0, kind + " cores: CPUs " + list(cpus)));
        by(whole.cpus(), Topology.Cpu::socket).forEach((number, inPackage) -> {
            line(t, 0, "package " + number);
            by(inPackage, Topology.Cpu::node).forEach((node, inNode) -> {
                line(t, 1, "node " + node + size(topology.memory(node)) + ": CPUs " + list(inNode));
                by(inNode, Topology.Cpu::cacheGroup).forEach((first, inCache) -> cache(t, inCache));
            });
        });
        whole.nodes().stream().filter(n -> n.cpus().isEmpty())
                .forEach(n -> line(t, 0, "node " + n.id() + size(topology.memory(n.id())) + ": no CPUs"));
        distances(t);
        line(t, 0, "caches: " + (caches().isEmpty() ? "unknown" : ""));
        caches().forEach((name, count) -> line(t, 1, count + " x " + name));
        cgroups(t);
        line(t, 0, "Ps by default: " + topology.defaultProcs() + "; the first of them by affinity:");
        int width = policies.stream().mapToInt(a -> a.toString().length()).max().orElse(0);
        for (Affinity a : policies) {
            line(t, 1, a + " ".repeat(width - a.toString().length() + 2) + places(a, SHOWN_PS).stream().collect(Collectors.joining(" "))
                    + (a.limitsProcs() ? " (" + procs(a) + " Ps)" : ""));
        }
        return t.toString();
    }

    /** Returns the number of Ps if it is not set; some policies set it. */
    private int procs(Affinity a) {
        int procs = topology.defaultProcs();
        if (a.limitsProcs()) {
            BitSet used = new BitSet();
            a.places(topology).forEach(used::or);
            procs = Math.min(procs, used.cardinality());
        }
        return procs;
    }

    /** Returns the first policy that pins each P to one CPU. */
    Optional<Affinity> pinning() {
        return policies.stream().filter(a -> pinned(a).stream().allMatch(place -> place.cardinality() == 1)).findFirst();
    }

    /** Returns the CPUs of each P. */
    List<BitSet> pinned(Affinity a) {
        return a.place(procs(a), topology);
    }

    private List<String> places(Affinity a, int most) {
        return a.place(Math.min(most, procs(a)), topology).stream().map(TopoReport::list).toList();
    }

    private static void cache(StringBuilder t, List<Topology.Cpu> cpus) {
        Optional<Topology.Cache> last = lastCache(cpus.getFirst());
        String cores = by(cpus, Topology.Cpu::coreGroup).values().stream().map(TopoReport::list).collect(Collectors.joining(" "));
        line(t, 2, last.map(c -> cacheName(c) + ", cores ").orElse("core ") + cores);
    }

    private void distances(StringBuilder t) {
        if (whole.nodes().size() > 1) {
            line(t, 0, "distances between nodes");
            for (Topology.Node from : whole.nodes()) {
                line(t, 1, String.format("%3d:", from.id()) + whole.nodes().stream()
                        .map(to -> String.format("%4d", topology.distance(from.id(), to.id()))).collect(Collectors.joining()));
            }
        }
    }

    /** Returns the number of caches of each kind of online CPUs; a shared cache counts once. */
    private Map<String, Long> caches() {
        return whole.cpus().stream().flatMap(c -> c.caches().stream()).distinct().collect(Collectors.groupingBy(
                c -> cacheName(c) + ", of " + c.cpus().cardinality() + (c.cpus().cardinality() == 1 ? " CPU" : " CPUs"),
                TreeMap::new, Collectors.counting()));
    }

    private void cgroups(StringBuilder t) {
        line(t, 0, "cgroup CPU limit: " + topology.limit().map(l -> Format.plain(l.cpus()) + " CPUs").orElse("none"));
        topology.limits().forEach(l -> line(t, 1, Format.plain(l.cpus()) + " CPUs (" + l.quotaMicros() + " µs every "
                + l.periodMicros() + " µs) in " + l.cgroup()));
        topology.cpusets().forEach(s -> line(t, 1, "CPUs " + list(s.cpus()) + " in " + s.cgroup()));
    }

    private static void line(StringBuilder t, int depth, String text) {
        t.append("  ".repeat(depth)).append(text.stripTrailing()).append('\n');
    }

    /** Returns all of it, for JSON. */
    Map<String, Object> json() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("online", list(topology.online()));
        all.put("allowed", list(topology.allowed()));
        all.put("isolated", list(topology.isolated()));
        Map<String, Object> kinds = new LinkedHashMap<>();
        topology.kinds().forEach((kind, cpus) -> kinds.put(kind, list(cpus)));
        all.put("kinds", kinds);
        List<Object> cpus = new ArrayList<>();
        whole.cpus().forEach(c -> cpus.add(ordered("cpu", c.id(), "core", c.core(), "package", c.socket(), "node", c.node(),
                "siblings", list(c.siblings()), "allowed", topology.allowed().get(c.id()),
                "isolated", topology.isolated().get(c.id()))));
        all.put("cpus", cpus);
        all.put("caches", whole.cpus().stream().flatMap(c -> c.caches().stream()).distinct()
                .map(c -> ordered("level", c.level(), "type", c.type().name().toLowerCase(Locale.ROOT), "bytes", c.bytes(),
                        "cpus", list(c.cpus()))).toList());
        all.put("nodes", whole.nodes().stream().map(n -> ordered("node", n.id(), "cpus", list(n.cpus()),
                "bytes", topology.memory(n.id()),
                "distances", whole.nodes().stream().map(to -> topology.distance(n.id(), to.id())).toList())).toList());
        all.put("limits", topology.limits().stream().map(l -> ordered("cgroup", l.cgroup(), "quotaMicros", l.quotaMicros(),
                "periodMicros", l.periodMicros(), "cpus", l.cpus())).toList());
        all.put("cpusets", topology.cpusets().stream().map(s -> ordered("cgroup", s.cgroup(), "cpus", list(s.cpus()))).toList());
        all.put("procs", topology.defaultProcs());
        Map<String, Object> places = new LinkedHashMap<>();
        policies.forEach(a -> places.put(a.toString(), ordered("procs", procs(a), "cpus", places(a, Integer.MAX_VALUE))));
        all.put("affinity", places);
        return all;
    }

    private static Map<String, Object> ordered(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put(keysAndValues[i].toString(), keysAndValues[i + 1]);
        }
        return map;
    }
}
