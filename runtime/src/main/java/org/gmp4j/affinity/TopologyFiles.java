// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * Reads the parts of a {@link Topology}. The value of a missing or malformed file counts as unknown. {@link SysCheck} reports malformed
 * files.
 */
final class TopologyFiles {
    static final String CPUS = "/sys/devices/system/cpu/";
    static final String NODES = "/sys/devices/system/node/";

    /** The greatest number of caches that are read for a CPU. No CPU has so many. */
    private static final int MOST_CACHES = 32;

    private TopologyFiles() {
    }

    /**
     * Returns the kinds of cores and their CPUs; empty when all cores are alike. On x86 the kernel has a folder of performance events for
     * each kind ({@code /sys/devices/cpu_core}), and its file {@code cpus} lists the kind's CPUs. On ARM the kernel gives each CPU a
     * capacity, 1024 for the fastest.
     */
    static Map<String, BitSet> kinds(SysFiles files, BitSet online) {
        Map<String, BitSet> kinds = new LinkedHashMap<>();
        for (String kind : new String[] {"core", "atom", "lowpower"}) {
            BitSet cpus = CpuList.parse(SysFiles.text(files.at("/sys/devices/cpu_" + kind + "/cpus")));
            cpus.and(online);
            if (!cpus.isEmpty()) {
                kinds.put(switch (kind) {
                    case "core" -> "performance";
                    case "atom" -> "efficiency";
                    default -> "low power";
                }, cpus);
            }
        }
        if (kinds.isEmpty()) {
            Map<Integer, BitSet> capacities = new TreeMap<>(Comparator.reverseOrder());
            online.stream().forEach(id -> {
                int capacity = SysFiles.number(files.at(CPUS + "cpu" + id + "/cpu_capacity"), 0);
                if (capacity > 0) {
                    capacities.computeIfAbsent(capacity, k -> new BitSet()).set(id);
                }
            });
            capacities.forEach((capacity, cpus) -> kinds.put("capacity " + capacity, cpus));
        }
        return kinds.size() > 1 ? kinds : Map.of();
    }

    /**
     * Returns the memory of a node in bytes; 0 when unknown. The file {@code meminfo} has a line such as {@code Node 0 MemTotal: 65536 kB}.
     */
    static long memory(SysFiles files, int node) {
        for (String line : SysFiles.lines(files.at(NODES + "node" + node + "/meminfo"))) {
            String[] words = line.strip().split("\\s+");
            if (words.length > 3 && words[2].equals("MemTotal:") && words[3].matches("[0-9]{1,15}")) {
                return Long.parseLong(words[3]) << 10;
            }
        }
        return 0;
    }

    /** Returns the usable CPUs of each node. Each usable CPU is in exactly one node. */
    static Map<Integer, BitSet> nodes(SysFiles files, BitSet allowed) {
        Map<Integer, BitSet> nodes = new TreeMap<>();
        BitSet homeless = (BitSet) allowed.clone();
        CpuList.parse(SysFiles.text(files.at(NODES + "online"))).stream().forEach(id -> {
            BitSet mine = CpuList.parse(SysFiles.text(files.at(NODES + "node" + id + "/cpulist")));
            mine.and(homeless);
            homeless.andNot(mine);
            nodes.put(id, mine);
        });
        if (nodes.isEmpty()) {
            nodes.put(0, new BitSet());
        }
        nodes.values().iterator().next().or(homeless);
        return nodes;
    }

    /** Returns the known distances between nodes. A node's file has one number for each online node, in ascending order of their ids. */
    static Map<Integer, Map<Integer, Integer>> distances(SysFiles files, Map<Integer, BitSet> nodes) {
        List<Integer> ids = List.copyOf(nodes.keySet());
        Map<Integer, Map<Integer, Integer>> all = new TreeMap<>();
        for (int from : ids) {
            String text = SysFiles.text(files.at(NODES + "node" + from + "/distance"));
            String[] numbers = text == null ? new String[0] : text.split("\\s+");
            Map<Integer, Integer> row = new TreeMap<>();
            for (int i = 0; numbers.length == ids.size() && i < numbers.length; i++) {
                int d = CpuList.number(numbers[i]);
                if (d >= Topology.LOCAL_DISTANCE) {
                    row.put(ids.get(i), d);
                }
            }
            all.put(from, row);
        }
        return all;
    }

    static Topology.Cpu cpu(SysFiles files, int id, int node) {
        Path dir = files.at(CPUS + "cpu" + id);
        Path topology = dir.resolve("topology");
        BitSet siblings = CpuList.parse(SysFiles.text(topology.resolve("core_cpus_list")));
        if (!siblings.get(id)) {
            siblings = CpuList.parse(SysFiles.text(topology.resolve("thread_siblings_list"))); // The name before Linux 5.3.
        }
        if (!siblings.get(id)) {
            siblings = new BitSet();
            siblings.set(id);
        }
        int core = SysFiles.number(topology.resolve("core_id"), id);
        int socket = SysFiles.number(topology.resolve("physical_package_id"), 0);
        return new Topology.Cpu(id, core, socket, node, siblings, caches(dir.resolve("cache"), id));
    }

    private static List<Topology.Cache> caches(Path dir, int cpu) {
        List<Topology.Cache> caches = new ArrayList<>();
        for (int i = 0; ; i++) {
            Path index = dir.resolve("index" + i);
            int level = SysFiles.number(index.resolve("level"), 0);
            if (level == 0 || i == MOST_CACHES) {
                caches.sort(Comparator.comparingInt(Topology.Cache::level).thenComparing(Topology.Cache::type));
                return caches;
            }
            Topology.CacheType type = switch (String.valueOf(SysFiles.text(index.resolve("type")))) {
                case "Data" -> Topology.CacheType.DATA;
                case "Instruction" -> Topology.CacheType.INSTRUCTION;
                default -> Topology.CacheType.UNIFIED;
            };
            BitSet shared = CpuList.parse(SysFiles.text(index.resolve("shared_cpu_list")));
            shared.set(cpu);
            caches.add(new Topology.Cache(level, type, bytes(SysFiles.text(index.resolve("size"))), shared));
        }
    }

    /** Parses a size such as "48K" or "1M". Returns 0 for another text. */
    private static long bytes(@Nullable String size) {
        if (size == null || !size.matches("[0-9]{1,12}[KMG]?")) {
            return 0;
        }
        int shift = switch (size.charAt(size.length() - 1)) {
            case 'K' -> 10;
            case 'M' -> 20;
            case 'G' -> 30;
            default -> 0;
        };
        return Long.parseLong(shift == 0 ? size : size.substring(0, size.length() - 1)) << shift;
    }
}
