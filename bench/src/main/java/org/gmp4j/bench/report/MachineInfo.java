// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import org.gmp4j.affinity.Topology;

/**
 * The machine and the JVM that something was measured on.
 *
 * @param cpu the processor's name
 * @param online CPUs that are there
 * @param usable CPUs that this process may use, as a list
 * @param cpus how many those are
 * @param nodes NUMA nodes
 * @param limit CPUs that the cgroup grants, or empty
 * @param virtual whether it says that it is a virtual machine
 * @param kernel name and version
 * @param arch the JVM's name of the architecture
 * @param jdk name and version
 * @param gc the collector
 * @param heapBytes most heap
 * @param clocksource what the kernel's clocks read
 */
public record MachineInfo(
        String cpu,
        int online,
        String usable,
        int cpus,
        int nodes,
        Optional<Double> limit,
        boolean virtual,
        String kernel,
        String arch,
        String jdk,
        String gc,
        long heapBytes,
        String clocksource) {
    private static final Path CPUINFO = Path.of("/proc/cpuinfo");
    private static final Path CLOCKSOURCE =
            Path.of("/sys/devices/system/clocksource/clocksource0/current_clocksource");

    /** This one. */
    public static MachineInfo here() {
        Topology topology = Topology.system();
        List<String> cpuinfo = lines(CPUINFO);
        String jdk = System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version") + " ("
                + System.getProperty("java.vendor") + ")";
        return new MachineInfo(
                cpu(cpuinfo),
                topology.online().cardinality(),
                Cpus.list(topology.allowed()),
                topology.allowed().cardinality(),
                topology.nodes().size(),
                topology.limit().map(Topology.CpuLimit::cpus),
                cpuinfo.stream().anyMatch(l -> l.startsWith("flags") && l.contains(" hypervisor")),
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("os.arch"),
                jdk,
                collector(),
                Runtime.getRuntime().maxMemory(),
                lines(CLOCKSOURCE).stream().findFirst().orElse("unknown"));
    }

    /** Returns the facts for people, by name. */
    public Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put(
                "machine",
                cpu + ", " + cpus + " of " + online + " CPUs usable (" + usable + ")"
                        + (nodes > 1 ? ", " + nodes + " NUMA nodes" : "")
                        + limit.map(l -> ", cgroup limit " + Format.plain(l) + " CPUs").orElse("")
                        + (virtual ? ", virtual machine" : ""));
        facts.put("system", kernel + " " + arch);
        facts.put("JVM", jdk + ", " + gc + ", heap up to " + (heapBytes >> 20) + " MiB");
        return facts;
    }

    /** Returns an object for {@link JsonText}. */
    public Map<String, Object> json() {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("cpu", cpu);
        o.put("cpus", cpus);
        o.put("usable", usable);
        o.put("online", online);
        o.put("nodes", nodes);
        o.put("limit", limit.orElse(null));
        o.put("virtual", virtual);
        o.put("kernel", kernel);
        o.put("arch", arch);
        o.put("jdk", jdk);
        o.put("gc", gc);
        o.put("heap_bytes", heapBytes);
        o.put("clocksource", clocksource);
        return o;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Returns the CPU's name. x86 has a name; ARM has numbers. */
    private static String cpu(List<String> cpuinfo) {
        return value(cpuinfo, "model name")
                .or(() -> value(cpuinfo, "CPU part")
                        .map(part -> "ARM implementer "
                                + value(cpuinfo, "CPU implementer").orElse("?") + " part " + part))
                .orElse("unknown CPU");
    }

    private static Optional<String> value(List<String> cpuinfo, String key) {
        return cpuinfo.stream()
                .filter(l -> l.startsWith(key))
                .map(l -> l.substring(l.indexOf(':') + 1).strip())
                .filter(v -> !v.isEmpty())
                .findFirst();
    }

    private static String collector() {
        String beans = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(b -> b.getName())
                .collect(Collectors.joining(" "));
        for (String[] known : new String[][] {
            {"G1", "G1"}, {"ZGC", "ZGC"}, {"Shenandoah", "Shenandoah"}, {"PS ", "Parallel"}, {"Copy", "Serial"}
        }) {
            if (beans.contains(known[0])) {
                return known[1];
            }
        }
        boolean epsilon = ManagementFactory.getMemoryPoolMXBeans().stream()
                .map(MemoryPoolMXBean::getName)
                .anyMatch(n -> n.contains("Epsilon"));
        return epsilon ? "Epsilon" : beans;
    }
}
