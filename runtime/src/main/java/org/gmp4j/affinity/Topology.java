// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The machine as a process sees it: CPUs, their cores, caches and NUMA nodes, and the CPU limits of the process's cgroups, as the kernel
 * reports them at one moment. If files are missing (containers and virtual machines hide some), the machine counts as flat: each CPU is a
 * core of its own without a known cache, and all CPUs are in one package on one node.
 *
 * <p>Sources: {@code sched_getaffinity(2)}, {@code /sys/devices/system/cpu} and {@code node}, {@code /proc/self/cgroup} and {@code
 * mountinfo}. Immutable, so safe to share between threads; methods return copies of sets.
 */
public final class Topology {
    /**
     * One CPU (hardware thread) that the process may use.
     *
     * @param id the kernel's number, from 0
     * @param core the kernel's core number, unique only within a package; {@code id} when unknown
     * @param socket the physical package; 0 when unknown
     * @param node the NUMA node; 0 when unknown
     * @param siblings the CPUs of the same core, including this one and CPUs that the process may not use
     * @param caches its caches, lowest level first; empty when unknown
     */
    public record Cpu(int id, int core, int socket, int node, BitSet siblings, List<Cache> caches) {
        /** Makes the record with copies of the mutable components. */
        public Cpu {
            siblings = copy(siblings);
            caches = List.copyOf(caches);
        }

        /** Returns a copy of the set of CPUs of the same core. */
        @Override
        public BitSet siblings() {
            return copy(siblings);
        }

        /**
         * Returns the id of the group of CPUs that share this CPU's last-level data cache: the number of the group's first CPU. Without
         * known caches the group is the core.
         */
        public int cacheGroup() {
            return caches.stream()
                    .filter(c -> c.type != CacheType.INSTRUCTION && c.cpus.get(id))
                    .max(Comparator.comparingInt(Cache::level))
                    .map(c -> c.cpus.nextSetBit(0))
                    .orElseGet(this::coreGroup);
        }

        /** Returns the number of the first CPU of this CPU's core. This number identifies the core. */
        public int coreGroup() {
            return siblings.nextSetBit(0);
        }
    }

    /** The contents of a cache. */
    public enum CacheType {
        /** Data only. */
        DATA("d"),
        /** Instructions only. */
        INSTRUCTION("i"),
        /** Both. */
        UNIFIED("");

        final String letter;

        CacheType(String letter) {
            this.letter = letter;
        }
    }

    /**
     * One cache.
     *
     * @param level from 1, the nearest
     * @param type its contents
     * @param bytes its size; 0 when unknown
     * @param cpus the CPUs that share it, including those that the process may not use
     */
    public record Cache(int level, CacheType type, long bytes, BitSet cpus) {
        /** Makes the record with copies of the mutable components. */
        public Cache {
            cpus = copy(cpus);
        }

        /** Returns a copy of the set of CPUs that share this cache. */
        @Override
        public BitSet cpus() {
            return copy(cpus);
        }
    }

    /**
     * One NUMA node, which may have only memory.
     *
     * @param id the kernel's number
     * @param cpus its CPUs that the process may use; may be empty
     */
    public record Node(int id, BitSet cpus) {
        /** Makes the record with copies of the mutable components. */
        public Node {
            cpus = copy(cpus);
        }

        /** Returns a copy of the set of the node's CPUs that the process may use. */
        @Override
        public BitSet cpus() {
            return copy(cpus);
        }
    }

    /**
     * The CPU bandwidth limit of one cgroup.
     *
     * @param cgroup its directory
     * @param quotaMicros microseconds of CPU time in each period, above 0
     * @param periodMicros length of the period in microseconds, above 0
     */
    public record CpuLimit(String cgroup, long quotaMicros, long periodMicros) {
        /** Returns the limit in CPUs, above 0: quota over period; for instance 1.5 for one and a half CPUs. */
        public double cpus() {
            return (double) quotaMicros / periodMicros;
        }
    }

    /**
     * The CPUs of one cgroup.
     *
     * @param cgroup its directory
     * @param cpus the CPUs that its processes may use
     */
    public record Cpuset(String cgroup, BitSet cpus) {
        /** Makes the record with copies of the mutable components. */
        public Cpuset {
            cpus = copy(cpus);
        }

        /** Returns a copy of the set of CPUs. */
        @Override
        public BitSet cpus() {
            return copy(cpus);
        }
    }

    /** The firmware's distance of a node to itself (ACPI SLIT). */
    static final int LOCAL_DISTANCE = 10;

    /** The distance that the kernel assumes between two nodes when the firmware reports none. */
    private static final int REMOTE_DISTANCE = 20;

    private final BitSet allowed;
    private final BitSet online;
    private final List<Cpu> cpus;
    private final List<Node> nodes;
    private final Map<Integer, Map<Integer, Integer>> distances;
    private final List<CpuLimit> limits;
    private final List<Cpuset> cpusets;
    private final BitSet isolated;
    private final Map<String, BitSet> kinds;
    private final Map<Integer, Long> memory = new TreeMap<>();
    /** The result of {@link #whole()}: this object if the process may use all online CPUs; null if the other CPUs have not been read. */
    private final @Nullable Topology whole;
    private final Path root;

    /**
     * Reads the files of a machine below {@code root} in place of {@code /}.
     *
     * @param allowed CPUs that the process may use, at least one
     */
    Topology(Path root, BitSet allowed) {
        this(root, allowed, false);
    }

    private Topology(Path root, BitSet allowed, boolean withWhole) {
        SysFiles files = new SysFiles(root);
        this.allowed = copy(allowed);
        this.online = CpuList.parse(SysFiles.text(files.at("/sys/devices/system/cpu/online")));
        this.online.or(allowed); // A CPU that the process may use is online, even if the file lacks it.
        Map<Integer, BitSet> nodeCpus = TopologyFiles.nodes(files, allowed);
        this.nodes = nodeCpus.entrySet().stream().map(e -> new Node(e.getKey(), e.getValue())).toList();
        this.distances = TopologyFiles.distances(files, nodeCpus);
        this.cpus = allowed.stream().mapToObj(id -> TopologyFiles.cpu(files, id, nodeOf(id))).toList();
        CpuLimits cgroups = CpuLimits.all(files);
        this.limits = cgroups.limits();
        this.cpusets = cgroups.cpusets();
        this.isolated = CpuList.parse(SysFiles.text(files.at(TopologyFiles.CPUS + "isolated")));
        this.isolated.and(online);
        this.kinds = TopologyFiles.kinds(files, online);
        this.nodes.forEach(n -> memory.put(n.id, TopologyFiles.memory(files, n.id)));
        this.root = root;
        this.whole = allowed.equals(online) ? this : withWhole ? new Topology(root, online, false) : null;
    }

    /**
     * Reads the machine as it is now. The allowed CPUs come from the affinity mask of the process's first thread, which {@code taskset} or
     * a cpuset sets. If all CPUs of that mask are offline, they come from the calling thread's mask. Reading some files for each CPU takes
     * milliseconds on a large machine.
     *
     * @throws RuntimeException when the kernel refuses {@code sched_getaffinity}
     */
    public static Topology system() {
        return new Topology(Path.of("/"), systemCpus());
    }

    /**
     * Reads a recorded machine: {@code sys} and {@code proc} below a folder in place of {@code /}. The process may use the CPUs in
     * {@code Cpus_allowed_list} of {@code proc/self/status}, or all CPUs if there is no such list. CPUs that are not online, or not in the
     * cpusets of its cgroups, are left out.
     *
     * @param folder the folder that has {@code sys} and {@code proc}
     * @throws IllegalArgumentException with one sentence, when the folder has no such files, when a file cannot be read or has another form
     *     than the kernel's, or when files contradict each other
     */
    public static Topology recorded(Path folder) {
        SysFiles files = new SysFiles(folder);
        SysCheck check = SysCheck.of(files);
        if (!check.problems().isEmpty()) {
            throw new IllegalArgumentException(check.problems().getFirst());
        }
        return new Topology(folder, check.allowed(), true);
    }

    /**
     * Returns the faults of this machine's own files: files that cannot be read, have another form than the kernel's, or contradict each
     * other. {@link #recorded} would refuse a folder with such a fault.
     *
     * @return a sentence for each fault, without a full stop, a few at most; empty when there is none
     */
    public static List<String> problems() {
        return SysCheck.of(new SysFiles(Path.of("/"))).problems();
    }

    /** Returns this machine for a process that may use all online CPUs. Reads the machine anew if its other CPUs have not been read. */
    public Topology whole() {
        return whole != null ? whole : new Topology(root, online);
    }

    /**
     * Returns the online CPUs that the process may use now, in a new set. This makes one system call.
     *
     * @throws RuntimeException when the kernel refuses {@code sched_getaffinity}
     */
    public static BitSet systemCpus() {
        return org.gmp4j.ffi.Affinity.ofProcess();
    }

    /** Returns this machine for a process that may use the CPUs of {@link #allowed} except {@code cpus}. At least one CPU must be left. */
    Topology without(BitSet cpus) {
        BitSet left = allowed();
        left.andNot(cpus);
        return new Topology(root, left);
    }

    /** Returns a copy of the set of CPUs that the process may use, which is never empty. */
    public BitSet allowed() {
        return copy(allowed);
    }

    /** Returns a copy of the set of online CPUs, including those that the process may not use. */
    public BitSet online() {
        return copy(online);
    }

    /** Returns a copy of the set of CPUs, usually empty, that the kernel leaves out of load balancing ({@code isolcpus=}). */
    public BitSet isolated() {
        return copy(isolated);
    }

    /**
     * Returns the CPUs of each kind of core, by the kind's name, fastest first: {@code performance}, {@code efficiency} and {@code low
     * power} on x86, {@code capacity N} on ARM. The map is empty when all cores are alike or unknown.
     */
    public Map<String, BitSet> kinds() {
        Map<String, BitSet> copies = new LinkedHashMap<>();
        kinds.forEach((kind, of) -> copies.put(kind, copy(of)));
        return copies;
    }

    /** Returns the memory of the node with this number, bytes; 0 when unknown. */
    public long memory(int node) {
        return memory.getOrDefault(node, 0L);
    }

    /** Returns the cpusets from the process's cgroup up to the root, in that order, of both cgroup versions; empty when there is none. */
    public List<Cpuset> cpusets() {
        return cpusets;
    }

    /** Returns the CPUs that the process may use, by ascending number. */
    public List<Cpu> cpus() {
        return cpus;
    }

    /** Returns the NUMA nodes, at least one, by ascending number, including those without CPUs that the process may use. */
    public List<Node> nodes() {
        return nodes;
    }

    /**
     * Returns the distance of one node's memory from the CPUs of another, in the firmware's unit: 10 is the node's own.
     *
     * @param from number of a node
     * @param to number of a node
     * @return 10 or more; for unknown nodes 10 to itself and 20 to another, as the kernel assumes
     */
    public int distance(int from, int to) {
        int unknown = from == to ? LOCAL_DISTANCE : REMOTE_DISTANCE;
        return distances.getOrDefault(from, Map.of()).getOrDefault(to, unknown);
    }

    /** Returns all CPU limits, of both cgroup versions, in the order from the process's cgroup up to the root; may be empty. */
    public List<CpuLimit> limits() {
        return limits;
    }

    /** Returns the CPU limit in force, the smallest of {@link #limits}; empty when there is none. */
    public Optional<CpuLimit> limit() {
        return smallest(limits);
    }

    private static Optional<CpuLimit> smallest(List<CpuLimit> limits) {
        CpuLimit least = null;
        for (CpuLimit l : limits) {
            if (least == null || l.cpus() < least.cpus()) {
                least = l;
            }
        }
        return Optional.ofNullable(least);
    }

    /**
     * Returns the default number of Ps, at least 1: the CPUs of the affinity mask, but no more than the CPU limit rounded up. A limit below
     * 2 counts as 2. This is Go's rule from version 1.25 on, except that Go reads only the limit of the process's own cgroup.
     */
    public int defaultProcs() {
        return procs(allowed, limit());
    }

    /**
     * Returns {@link #defaultProcs} of the machine as it is now. It reads only the cgroups' files, so its cost does not grow with the
     * number of CPUs. A caller may call it each second.
     *
     * @throws RuntimeException when the kernel refuses {@code sched_getaffinity}
     */
    public static int systemProcs() {
        return procs(systemCpus(), smallest(CpuLimits.read(new SysFiles(Path.of("/")))));
    }

    /** Returns a supplier of {@link #systemProcs} for one thread that reads it repeatedly. */
    public static IntSupplier followedProcs() {
        CpuLimits.Followed limits = new CpuLimits.Followed(new SysFiles(Path.of("/")));
        return new IntSupplier() {
            @Override
            public int getAsInt() {
                return procs(systemCpus(), smallest(limits.now()));
            }
        };
    }

    private static int procs(BitSet allowed, Optional<CpuLimit> limit) {
        int usable = allowed.cardinality();
        if (limit.isEmpty()) {
            return usable;
        }
        CpuLimit l = limit.get();
        return (int) Math.min(usable, Math.max(2, Math.ceilDiv(l.quotaMicros, l.periodMicros)));
    }

    /** Returns a description for people: several lines, without a newline at the end. Its form may change. */
    public String describe() {
        return new TopologyText(this).describe();
    }

    /** Returns one line: CPUs, cores, nodes, limit, default procs. */
    @Override
    public String toString() {
        long cores = cpus.stream().mapToInt(Cpu::coreGroup).distinct().count();
        return "Topology[CPUs " + CpuList.format(allowed) + ", " + cores + (cores == 1 ? " core, " : " cores, ")
                + nodes.size() + (nodes.size() == 1 ? " node, " : " nodes, ")
                + limit().map(l -> "limit " + TopologyText.plain(l.cpus()) + " CPUs").orElse("no CPU limit")
                + ", default procs " + defaultProcs() + "]";
    }

    private int nodeOf(int cpu) {
        return nodes.stream().filter(n -> n.cpus.get(cpu)).mapToInt(Node::id).findFirst().orElseThrow();
    }

    private static BitSet copy(BitSet set) {
        return (BitSet) set.clone();
    }
}
