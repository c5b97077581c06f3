// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Makes the text form of a {@link Topology}. */
final class TopologyText {
    private final Topology t;

    TopologyText(Topology t) {
        this.t = t;
    }

    /** Implements {@link Topology#describe}. */
    String describe() {
        List<String> lines = new ArrayList<>();
        lines.add("CPUs: " + t.allowed().cardinality() + " usable (" + CpuList.format(t.allowed()) + ") of "
                + t.online().cardinality() + " online (" + CpuList.format(t.online()) + ")");
        for (Topology.Node node : t.nodes()) {
            lines.add("node " + node.id() + ": "
                    + (node.cpus().isEmpty() ? "no usable CPUs" : "CPUs " + CpuList.format(node.cpus())));
            if (t.nodes().size() > 1) {
                lines.add("  distance to node " + t.nodes().stream()
                        .map(n -> n.id() + " is " + t.distance(node.id(), n.id())).collect(Collectors.joining(", ")));
            }
            for (List<Topology.Cpu> core : cores(node)) {
                lines.add("  socket " + core.getFirst().socket() + " core " + core.getFirst().core()
                        + (core.size() == 1 ? ": CPU " : ": CPUs ")
                        + core.stream().map(c -> Integer.toString(c.id())).collect(Collectors.joining(",")));
            }
        }
        lines.add("caches: " + (caches().isEmpty() ? "unknown" : ""));
        caches().forEach((name, count) -> lines.add("  " + count + " x " + name));
        lines.addAll(describeLimits());
        lines.add("default procs: " + t.defaultProcs());
        return lines.stream().map(String::stripTrailing).collect(Collectors.joining("\n"));
    }

    private List<String> describeLimits() {
        if (t.limits().isEmpty()) {
            return List.of("cgroup CPU limit: none");
        }
        List<String> lines = new ArrayList<>();
        lines.add("cgroup CPU limit: " + plain(t.limit().orElseThrow().cpus()) + " CPUs");
        for (Topology.CpuLimit l : t.limits()) {
            lines.add("  " + plain(l.cpus()) + " CPUs (" + l.quotaMicros() + " µs every " + l.periodMicros() + " µs) in "
                    + l.cgroup());
        }
        return lines;
    }

    private List<List<Topology.Cpu>> cores(Topology.Node node) {
        return List.copyOf(t.cpus().stream().filter(c -> c.node() == node.id())
                .collect(Collectors.groupingBy(Topology.Cpu::coreGroup, TreeMap::new, Collectors.toList())).values());
    }

    /** Returns the number of caches of each level, type, size and number of CPUs. A cache that several CPUs share counts once. */
    private Map<String, Long> caches() {
        return t.cpus().stream().flatMap(c -> c.caches().stream()).distinct()
                .collect(Collectors.groupingBy(c -> "L" + c.level() + c.type().letter + " " + size(c.bytes())
                        + ", shared by " + c.cpus().cardinality() + (c.cpus().cardinality() == 1 ? " CPU" : " CPUs"),
                        TreeMap::new, Collectors.counting()));
    }

    private static String size(long bytes) {
        if (bytes == 0) {
            return "of unknown size";
        }
        return bytes % (1 << 20) == 0 ? (bytes >> 20) + " MiB" : plain(bytes / 1024.0) + " KiB";
    }

    /** Returns the value with at most three decimals, without trailing zeros. */
    static String plain(double value) {
        return String.format(Locale.ROOT, "%.3f", value).replaceFirst("\\.?0+$", "");
    }
}
