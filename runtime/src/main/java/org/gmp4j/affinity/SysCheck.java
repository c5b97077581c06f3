// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Checks whether a kernel could have written the contents of /sys and /proc. A {@link Topology} accepts any contents. This class has a
 * sentence for each fault, {@value #MOST_PROBLEMS} at most. The list of online CPUs and the folder of each online CPU and node must exist.
 * Any other file may be missing, because containers hide files, and old kernels have fewer.
 */
final class SysCheck {
    /** Twice the greatest number of CPUs of any kernel. */
    private static final int MOST_CPUS = 1 << 14;
    private static final int MOST_NODES = 1 << 10;
    private static final int MOST_PROBLEMS = 5;
    private static final int LOCAL = Topology.LOCAL_DISTANCE;

    private final SysFiles files;
    private final List<String> problems = new ArrayList<>();
    private BitSet allowed = new BitSet();

    private SysCheck(SysFiles files) {
        this.files = files;
    }

    /** Checks all files. */
    static SysCheck of(SysFiles files) {
        SysCheck check = new SysCheck(files);
        check.all();
        return check;
    }

    /** Returns a sentence for each fault, without a full stop. */
    List<String> problems() {
        return problems;
    }

    /**
     * Returns the CPUs that the process may use: the CPUs of its mask that are online and in its cpusets. The set is not empty if there are
     * no problems.
     */
    BitSet allowed() {
        return allowed;
    }

    private void all() {
        if (!Files.isDirectory(files.root())) {
            problem(SysFiles.shown(files.root()) + " is no folder");
            return;
        }
        Path where = files.at(TopologyFiles.CPUS + "online");
        BitSet online = list(TopologyFiles.CPUS + "online");
        if (problems.isEmpty() && online.isEmpty()) {
            problem(SysFiles.shown(where) + (Files.exists(where) ? " names no CPU" : " does not exist"));
        } else if (online.length() > MOST_CPUS) {
            problem(SysFiles.shown(where) + " names CPU " + (online.length() - 1) + ", and no kernel has more than " + MOST_CPUS);
        }
        if (!problems.isEmpty()) {
            return; // Without CPUs further checks are useless.
        }
        BitSet present = list(TopologyFiles.CPUS + "present");
        BitSet absent = (BitSet) online.clone();
        absent.andNot(present);
        if (!present.isEmpty() && !absent.isEmpty()) {
            problem("CPU " + absent.nextSetBit(0) + " is online but not present");
        }
        BitSet _ = list(TopologyFiles.CPUS + "isolated"); // Checks only the form.
        nodes(online);
        cores(online);
        caches(online);
        mask(online);
    }

    private void mask(BitSet online) {
        BitSet mask = (BitSet) online.clone();
        Path status = files.at("/proc/self/status");
        for (String line : SysFiles.lines(status)) {
            if (line.startsWith("Cpus_allowed_list:")) {
                String text = line.substring(line.indexOf(':') + 1).strip();
                mask = CpuList.parse(text);
                if (mask.isEmpty()) {
                    problem(SysFiles.shown(status) + " allows the CPUs \"" + SysFiles.cut(text) + "\", which is no list of CPUs");
                    return;
                }
            }
        }
        mask.and(online);
        CpuLimits cgroups = CpuLimits.all(files);
        cgroups.problems().forEach(this::problem);
        BitSet inSets = (BitSet) mask.clone();
        for (Topology.Cpuset set : cgroups.cpusets()) {
            inSets.and(set.cpus());
        }
        if (inSets.isEmpty()) {
            problem(mask.isEmpty() ? "the affinity mask allows none of the CPUs that are online, " + CpuList.format(online)
                    : "the cpusets of the process's cgroups leave none of the CPUs of its mask, " + CpuList.format(mask));
        }
        allowed = inSets;
    }

    private void nodes(BitSet online) {
        BitSet ids = list(TopologyFiles.NODES + "online");
        if (ids.length() > MOST_NODES) {
            problem("there is a node " + (ids.length() - 1) + ", and no kernel has more than " + MOST_NODES);
            return;
        }
        int[] nodes = ids.stream().toArray();
        Map<Integer, Integer> nodeOf = new HashMap<>();
        for (int node : nodes) {
            String folder = TopologyFiles.NODES + "node" + node;
            if (!Files.isDirectory(files.at(folder))) {
                problem("node " + node + " is online, and " + SysFiles.shown(files.at(folder)) + " is no folder");
                continue;
            }
            list(folder + "/cpulist").stream().filter(online::get).forEach(cpu -> {
                Integer other = nodeOf.putIfAbsent(cpu, node);
                if (other != null) {
                    problem("CPU " + cpu + " is in node " + other + " and in node " + node);
                }
            });
            distances(folder, node, nodes);
        }
        if (nodes.length > 0) {
            online.stream().filter(cpu -> !nodeOf.containsKey(cpu)).findFirst().ifPresent(cpu -> problem("CPU " + cpu + " is in no node"));
        }
    }

    private void distances(String folder, int node, int[] nodes) {
        String text = text(folder + "/distance");
        if (text == null) {
            return;
        }
        String[] row = text.split("\\s+");
        if (row.length != nodes.length) {
            problem("node " + node + " has " + row.length + " distances, and there are " + nodes.length + " nodes");
            return;
        }
        for (int i = 0; i < row.length; i++) {
            int d = CpuList.number(row[i]);
            if (d < LOCAL || nodes[i] == node && d != LOCAL) {
                problem("node " + node + " is \"" + SysFiles.cut(row[i]) + "\" from node " + nodes[i] + ", which must be " + LOCAL
                        + (nodes[i] == node ? "" : " or more"));
                return;
            }
        }
    }

    private void cores(BitSet online) {
        BitSet[] siblings = new BitSet[online.length()];
        @Nullable String[] packages = new @Nullable String[online.length()];
        online.stream().forEach(cpu -> {
            String folder = TopologyFiles.CPUS + "cpu" + cpu;
            if (!Files.isDirectory(files.at(folder))) {
                problem("CPU " + cpu + " is online, and " + SysFiles.shown(files.at(folder)) + " is no folder");
            }
            number(folder + "/topology/core_id"); // Checks only the form.
            packages[cpu] = number(folder + "/topology/physical_package_id");
            siblings[cpu] = list(folder + "/topology/core_cpus_list");
            if (siblings[cpu].isEmpty()) {
                siblings[cpu] = list(folder + "/topology/thread_siblings_list");
            }
            if (!siblings[cpu].isEmpty() && !siblings[cpu].get(cpu)) {
                problem("CPU " + cpu + " is not in its own core, " + SysFiles.cut(CpuList.format(siblings[cpu])));
            }
        });
        Map<String, BitSet> sharers = new HashMap<>();
        online.stream().filter(cpu -> !siblings[cpu].isEmpty()).forEach(cpu -> {
            sharers.put(cpu + " core", siblings[cpu]);
            int other = siblings[cpu].stream().filter(online::get).findFirst().orElse(cpu);
            if (!Objects.equals(packages[cpu], packages[other])) {
                problem("CPUs " + other + " and " + cpu + " are one core, and in packages " + SysFiles.cut(packages[other]) + " and "
                        + SysFiles.cut(packages[cpu]));
            }
        });
        agree(sharers, online);
    }

    /**
     * Records a problem if one CPU claims to share a part, such as a core, with a set of CPUs, and another CPU of that set claims a
     * different set. A key of {@code sharers} is a CPU, a blank, and the part; the value is the set of CPUs with which that CPU claims to
     * share the part.
     */
    private void agree(Map<String, BitSet> sharers, BitSet online) {
        Map<String, Map<BitSet, Integer>> claims = new HashMap<>(); // By part and set: the number of CPUs that claim the set.
        sharers.forEach((name, set) -> claims.computeIfAbsent(name.substring(name.indexOf(' ')), k -> new HashMap<>()).merge(set, 1,
                Integer::sum));
        claims.forEach((part, sets) -> sets.forEach((set, n) -> {
            BitSet of = (BitSet) set.clone();
            of.and(online);
            if (of.cardinality() != n) {
                of.stream().filter(cpu -> !set.equals(sharers.get(cpu + part))).findFirst().ifPresent(cpu -> problem("CPUs "
                        + CpuList.format(set) + " are said to share a" + part + ", and CPU " + cpu + " does not agree"));
            }
        }));
    }

    private void caches(BitSet online) {
        Map<String, BitSet> sharers = new HashMap<>(); // The key is a CPU, a level and a type.
        online.stream().forEach(cpu -> {
            String folder = TopologyFiles.CPUS + "cpu" + cpu + "/cache/index";
            for (int i = 0; Files.exists(files.at(folder + i)) && problems.size() < MOST_PROBLEMS; i++) {
                String level = number(folder + i + "/level");
                BitSet shared = list(folder + i + "/shared_cpu_list");
                if (!shared.isEmpty() && !shared.get(cpu)) {
                    problem("CPU " + cpu + " is not among those that share its cache of level " + SysFiles.cut(level));
                }
                sharers.put(cpu + " cache of level " + SysFiles.cut(level) + ", " + SysFiles.cut(text(folder + i + "/type")), shared);
            }
        });
        sharers.values().removeIf(BitSet::isEmpty);
        agree(sharers, online);
    }

    /** Returns the CPUs or nodes of a list; none when the file is missing, blank or faulty. */
    private BitSet list(String path) {
        String text = text(path);
        BitSet set = CpuList.parse(text);
        if (text != null && !text.isEmpty() && set.isEmpty()) {
            problem(SysFiles.shown(files.at(path)) + " says \"" + SysFiles.cut(text) + "\", which is no list of numbers from 0 on");
        }
        return set;
    }

    /** Returns a number, perhaps -1, as text; null when the file is missing or faulty. */
    private @Nullable String number(String path) {
        String text = text(path);
        if (text != null && !text.matches("-1|[0-9]{1,9}")) {
            problem(SysFiles.shown(files.at(path)) + " says \"" + SysFiles.cut(text) + "\", which is no number");
            return null;
        }
        return text;
    }

    private @Nullable String text(String path) {
        Path file = files.at(path);
        String text = SysFiles.text(file);
        if (text == null && Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            problem(SysFiles.shown(file) + (Files.isRegularFile(file) ? " cannot be read, or is too long" : " is no file"));
        }
        return text;
    }

    private void problem(String sentence) {
        if (problems.size() < MOST_PROBLEMS && !problems.contains(sentence)) {
            problems.add(sentence);
        }
    }
}
