// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * A policy that determines on which CPUs the Ms of each P may run. Only CPUs of the process's affinity mask are used. A policy makes a list
 * of places, which are sets of CPUs. P 0 gets the first place, and so on; if there are more Ps than places, the list begins again.
 * Immutable, so safe to share between threads.
 */
public final class Affinity {
    private enum Kind {
        NONE,
        COMPACT,
        SCATTER,
        CORES,
        PERNODE,
        LIST
    }

    private static final Affinity NONE = new Affinity(Kind.NONE);
    private static final Affinity COMPACT = new Affinity(Kind.COMPACT);
    private static final Affinity SCATTER = new Affinity(Kind.SCATTER);
    private static final Affinity CORES = new Affinity(Kind.CORES);
    private static final Affinity PER_NODE = new Affinity(Kind.PERNODE);
    private static final String RESERVE = ":reserve=";
    private static final int MOST_RESERVED = 65_535;

    private final Kind kind;
    private final int reserved;
    private final int[] list;

    private Affinity(Kind kind, int... list) {
        this(kind, 0, list);
    }

    private Affinity(Kind kind, int reserved, int[] list) {
        this.kind = kind;
        this.reserved = reserved;
        this.list = list;
    }

    /** Returns the policy that leaves the choice of CPUs to the kernel. */
    public static Affinity none() {
        return NONE;
    }

    /**
     * Returns the policy that keeps neighbours together, for goroutines that share data. Each P has one CPU. Ps fill all CPUs of a core
     * (SMT siblings), then the cores that share a cache with it, then the rest of the node, then the nearest other node.
     */
    public static Affinity compact() {
        return COMPACT;
    }

    /**
     * Returns the policy that keeps Ps far apart, for goroutines that each need cache and memory bandwidth of their own. Each P has one
     * CPU. Successive Ps are on different nodes, within a node on different last-level caches, then on different cores. Second SMT siblings
     * get a P only when every core has one.
     */
    public static Affinity scatter() {
        return SCATTER;
    }

    /**
     * Returns the policy that gives each P one CPU of a core, with the cores in the order of {@link #compact}. The SMT siblings remain for
     * the JVM's threads and for other processes. Unless the number of Ps is set, there are no more Ps than cores.
     */
    public static Affinity cores() {
        return CORES;
    }

    /**
     * Returns the policy that gives each P all CPUs of one NUMA node; successive Ps get successive nodes. Memory stays near, and the kernel
     * chooses the CPU.
     */
    public static Affinity perNode() {
        return PER_NODE;
    }

    /**
     * Returns the policy that gives each P one CPU of a list, in the list's order.
     *
     * @param list CPU numbers and ascending ranges with commas between them: {@code 0,2,4-7}; a CPU may be in the list twice
     * @throws IllegalArgumentException when the list is malformed, or names a CPU that does not exist or that the process may not use
     */
    public static Affinity cpus(String list) {
        return cpus(list, Topology.system());
    }

    /**
     * Returns this policy on fewer CPUs. The last CPUs in the order of {@link #compact} remain for the JIT, the collector, the thread that
     * watches the scheduler, and other threads. If the process has no more CPUs than {@code cpus}, the policy still uses one. If
     * {@code cpus} is more than 0, and the number of Ps is not set, there are no more Ps than CPUs that the policy uses.
     *
     * @param cpus the number of CPUs to keep free, 0 to 65535
     * @throws IllegalArgumentException when {@code cpus} is out of range, or the policy is a list of CPUs
     */
    public Affinity reserve(int cpus) {
        if (cpus < 0 || cpus > MOST_RESERVED) {
            throw new IllegalArgumentException("reserve is " + cpus + ": use 0 to " + MOST_RESERVED);
        }
        if (cpus > 0 && kind == Kind.LIST) {
            throw new IllegalArgumentException("reserve and a list of CPUs: leave those that are to be free out of the list");
        }
        return new Affinity(kind, cpus, list);
    }

    static Affinity cpus(String list, Topology topology) {
        List<Integer> cpus = new ArrayList<>();
        for (String item : list.split(",", -1)) {
            Matcher form = Item.FORM.matcher(item.strip());
            long first = form.matches() ? Long.parseLong(form.group(1)) : -1;
            long last = first < 0 || form.group(2) == null ? first : Long.parseLong(form.group(2));
            if (first < 0 || last < first) {
                throw bad(list, "\"" + item.strip() + "\" is not a CPU number or a range such as 4-7", topology);
            }
            for (long cpu = first; cpu <= last; cpu++) { // usable throws at the first CPU that does not exist, so a huge range ends here.
                cpus.add(usable(cpu, list, topology));
            }
        }
        return new Affinity(Kind.LIST, cpus.stream().mapToInt(Integer::intValue).toArray());
    }

    /**
     * Reads a policy from the command line.
     *
     * @param text {@code none}, {@code compact}, {@code scatter}, {@code cores} or {@code pernode}, with or without {@code :reserve=2}
     *     behind it for {@link #reserve}; or a list of CPUs as for {@link #cpus}
     * @throws IllegalArgumentException when {@code text} has another form, or {@link #reserve} or {@link #cpus} does not accept it
     */
    public static Affinity parse(String text) {
        return parsed(text, null);
    }

    /**
     * Reads a policy for a machine, this one or another.
     *
     * @param text a text in the form of {@link #parse(String)}
     * @param topology the machine on which the CPUs of a list must exist and be usable
     * @throws IllegalArgumentException as {@link #parse(String)} does
     */
    public static Affinity parse(String text, Topology topology) {
        return parsed(text, Objects.requireNonNull(topology));
    }

    private static Affinity parsed(String text, @Nullable Topology topology) {
        String word = text.strip().toLowerCase(Locale.ROOT);
        int colon = word.indexOf(RESERVE);
        if (colon >= 0) {
            return parsed(word.substring(0, colon), topology).reserve(number(word.substring(colon + RESERVE.length()), text));
        }
        return switch (word) {
            case "none" -> NONE;
            case "compact" -> COMPACT;
            case "scatter" -> SCATTER;
            case "cores" -> CORES;
            case "pernode" -> PER_NODE;
            default -> {
                Topology of = topology == null ? Topology.system() : topology;
                if (word.isEmpty() || !Character.isDigit(word.charAt(0))) {
                    throw new IllegalArgumentException("affinity \"" + text + "\" is unknown: use none, compact,"
                            + " scatter, cores, pernode, or a list of CPUs such as 0,2,4-7; " + available(of) + ".");
                }
                yield cpus(word, of);
            }
        };
    }

    /**
     * Returns the CPUs of each P on this machine at the time of the call.
     *
     * @param procs number of Ps, at least 1
     * @return the sets of CPUs of P 0, P 1, …, none of them empty; the caller may change the sets. The list is empty when the policy is
     *     {@link #none()}
     * @throws IllegalArgumentException when {@code procs} is less than 1
     */
    public List<BitSet> place(int procs) {
        if (procs < 1) {
            throw new IllegalArgumentException("procs is " + procs + ", it must be at least 1.");
        }
        if (kind == Kind.LIST) {
            return dealt(procs, singles(Arrays.stream(list)));
        }
        return kind == Kind.NONE && reserved == 0 ? List.of() : place(procs, Topology.system());
    }

    /**
     * Returns the CPUs of each P on a machine, this one or another.
     *
     * @param procs number of Ps, at least 1
     * @param topology the machine; without effect if the policy is a list of CPUs
     * @return as {@link #place(int)}
     */
    public List<BitSet> place(int procs, Topology topology) {
        return dealt(procs, kind == Kind.LIST ? singles(Arrays.stream(list)) : places(topology));
    }

    private static List<BitSet> dealt(int procs, List<BitSet> places) {
        return places.isEmpty() ? List.of()
                : IntStream.range(0, procs).mapToObj(i -> (BitSet) places.get(i % places.size()).clone()).toList();
    }

    /**
     * Returns the places of a machine, in the order in which Ps get them: P number i gets the place whose number is i modulo the number of
     * places. CPUs of a list that the process may not use are left out. If none is left, all CPUs that the process may use are one place.
     *
     * @param topology the machine
     * @return the sets of CPUs of the places, in order; the caller may change the sets. The list is empty when the policy is {@link
     *     #none()}
     */
    public List<BitSet> places(Topology topology) {
        Topology left = lessReserved(topology);
        return switch (kind) {
            case NONE -> reserved == 0 ? List.of() : List.of(left.allowed());
            case COMPACT -> singles(compactOrder(left).stream().mapToInt(Topology.Cpu::id));
            case SCATTER -> singles(scatterOrder(left).stream().mapToInt(Topology.Cpu::id));
            case CORES -> singles(coresOrder(left));
            case PERNODE -> left.nodes().stream().map(Topology.Node::cpus).filter(c -> !c.isEmpty()).toList();
            case LIST -> {
                BitSet allowed = topology.allowed();
                List<BitSet> usable = singles(Arrays.stream(list).filter(allowed::get));
                yield usable.isEmpty() ? List.of(allowed) : usable;
            }
        };
    }

    /** Returns whether the policy limits the number of Ps to the number of CPUs that it uses, unless the number of Ps is set. */
    public boolean limitsProcs() {
        return kind == Kind.CORES || reserved > 0;
    }

    private Topology lessReserved(Topology topology) {
        List<Topology.Cpu> order = reserved == 0 ? List.of() : compactOrder(topology);
        int free = Math.min(reserved, order.size() - 1);
        if (free <= 0) {
            return topology;
        }
        BitSet last = new BitSet();
        order.subList(order.size() - free, order.size()).forEach(c -> last.set(c.id()));
        return topology.without(last);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Affinity a && kind == a.kind && reserved == a.reserved && Arrays.equals(list, a.list);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * kind.name().hashCode() + reserved) + Arrays.hashCode(list);
    }

    /** Returns the text that {@link #parse} reads. */
    @Override
    public String toString() {
        return kind == Kind.LIST ? CpuList.format(list)
                : kind.name().toLowerCase(Locale.ROOT) + (reserved == 0 ? "" : RESERVE + reserved);
    }

    private static List<BitSet> singles(IntStream cpus) {
        return cpus.mapToObj(cpu -> {
            BitSet one = new BitSet();
            one.set(cpu);
            return one;
        }).toList();
    }

    /** Returns the first usable CPU of each core. */
    private static IntStream coresOrder(Topology topology) {
        BitSet seen = new BitSet();
        return compactOrder(topology).stream().filter(c -> {
            boolean first = !seen.get(c.coreGroup());
            seen.set(c.coreGroup());
            return first;
        }).mapToInt(Topology.Cpu::id);
    }

    private static List<Topology.Cpu> compactOrder(Topology topology) {
        int home = topology.cpus().getFirst().node();
        return topology.cpus().stream().sorted(Comparator
                .comparingInt((Topology.Cpu c) -> c.node() == home ? 0 : topology.distance(home, c.node()))
                .thenComparingInt(Topology.Cpu::node)
                .thenComparingInt(Topology.Cpu::socket)
                .thenComparingInt(Topology.Cpu::cacheGroup)
                .thenComparingInt(Topology.Cpu::coreGroup)
                .thenComparingInt(Topology.Cpu::id)).toList();
    }

    /**
     * Returns the first usable CPU of each core, then the second of each, and so on. The order alternates between nodes, and within a node
     * between caches.
     */
    private static List<Topology.Cpu> scatterOrder(Topology topology) {
        Map<Integer, List<Topology.Cpu>> rounds = new TreeMap<>();
        Map<Integer, Integer> seen = new TreeMap<>();
        for (Topology.Cpu cpu : topology.cpus()) {
            int round = seen.merge(cpu.coreGroup(), 1, Integer::sum);
            rounds.computeIfAbsent(round, k -> new ArrayList<>()).add(cpu);
        }
        List<Topology.Cpu> order = new ArrayList<>();
        for (List<Topology.Cpu> round : rounds.values()) {
            Map<Integer, Map<Integer, Deque<Topology.Cpu>>> byNode = new TreeMap<>();
            for (Topology.Cpu cpu : round) {
                byNode.computeIfAbsent(cpu.node(), k -> new TreeMap<>())
                        .computeIfAbsent(cpu.cacheGroup(), k -> new ArrayDeque<>()).add(cpu);
            }
            List<Deque<Topology.Cpu>> nodes = new ArrayList<>();
            byNode.values().forEach(caches -> nodes.add(new ArrayDeque<>(deal(caches.values()))));
            order.addAll(deal(nodes));
        }
        return order;
    }

    /** Empties the queues by taking one element of each in turn. Returns the elements in that order. */
    private static List<Topology.Cpu> deal(Iterable<Deque<Topology.Cpu>> hands) {
        List<Topology.Cpu> dealt = new ArrayList<>();
        int before;
        do {
            before = dealt.size();
            for (Deque<Topology.Cpu> hand : hands) {
                if (!hand.isEmpty()) {
                    dealt.add(hand.removeFirst());
                }
            }
        } while (dealt.size() > before);
        return dealt;
    }

    private static int number(String digits, String text) {
        try {
            return Integer.parseInt(digits);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("affinity \"" + text + "\": reserve is how many CPUs to keep free, such as :reserve=1", e);
        }
    }

    private static int usable(long cpu, String list, Topology topology) {
        if (cpu > Integer.MAX_VALUE || !topology.online().get((int) cpu)) {
            throw bad(list, "CPU " + cpu + " is not there", topology);
        }
        if (!topology.allowed().get((int) cpu)) {
            throw bad(list, "this process may not use CPU " + cpu, topology);
        }
        return (int) cpu;
    }

    private static IllegalArgumentException bad(String list, String what, Topology topology) {
        return new IllegalArgumentException("CPU list \"" + list + "\": " + what + "; " + available(topology) + ".");
    }

    private static String available(Topology topology) {
        return (topology.allowed().cardinality() == 1 ? "available is CPU " : "available are CPUs ")
                + CpuList.format(topology.allowed());
    }

    /** An item of a list of CPUs. It is a class of its own, so that policies without CPU numbers do not load it. */
    private static final class Item {
        /** The form of a CPU or a range, with numbers that fit a long. */
        static final Pattern FORM = Pattern.compile("([0-9]{1,18})(?:-([0-9]{1,18}))?");
    }
}
