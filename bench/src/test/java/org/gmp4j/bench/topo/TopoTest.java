// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.topo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.CommandLineRun;
import org.gmp4j.bench.HtmlPage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Node;

/** {@code gmp topo} on recorded machines; the answers were worked out by hand from what their makers document. */
class TopoTest {
    /** The files of a machine. What a test changes is put back after it. */
    @TempDir
    private static Path machine;

    @TempDir
    private Path root;
    private final Map<Path, Optional<byte[]>> changed = new HashMap<>();

    @BeforeAll
    static void expand() throws IOException {
        Machines.expand("container-v2", machine);
    }

    /** Deletes a file of the machine until the end of the test. Returns its path. */
    private Path without(String file) throws IOException {
        Path path = machine.resolve(file);
        changed.put(path, Files.exists(path) ? Optional.of(Files.readAllBytes(path)) : Optional.empty());
        Files.deleteIfExists(path);
        return path;
    }

    @AfterEach
    void putBack() throws IOException {
        for (Map.Entry<Path, Optional<byte[]>> file : changed.entrySet()) {
            Files.deleteIfExists(file.getKey());
            if (file.getValue().isPresent()) {
                Files.write(file.getKey(), file.getValue().get());
            }
        }
    }

    private static String places(Affinity a, int procs, Topology t) {
        return a.place(procs, t).stream().map(TopoReport::list).collect(Collectors.joining(" "));
    }

    /** Name; CPUs online, usable; cores; nodes; last caches; Ps; compact and scatter places of the first five Ps. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            epyc-2s-nps4|256|256|128|8|16|256|0 128 1 129 2|0 16 32 48 64
            xeon-4s|222|222|111|4|4|222|0 112 1 113 2|0 28 56 84 1
            hybrid-laptop|20|20|14|1|1|20|0 1 2 3 4|0 2 4 6 8
            arm-server|80|80|80|4|80|80|0 1 2 3 4|0 20 40 60 1
            container-v2|16|4|16|2|2|3|4 5 6 7 4|4 5 6 7 4
            container-v1|8|4|8|1|8|2|0 1 2 3 0|0 1 2 3 0
            large-16s|1280|1280|640|16|16|1280|0 1024 1 1025 2|0 40 80 120 160
            """)
    void recordedMachines(String name, int online, int usable, int cores, int nodes, int caches, int procs, String compact,
            String scatter) {
        Topology t = Machines.read(name);
        assertEquals(online, t.online().cardinality());
        assertEquals(usable, t.allowed().cardinality());
        Topology whole = t.whole();
        assertEquals(cores, whole.cpus().stream().mapToInt(Topology.Cpu::coreGroup).distinct().count());
        assertEquals(nodes, whole.nodes().size());
        assertEquals(caches, whole.cpus().stream().mapToInt(Topology.Cpu::cacheGroup).distinct().count());
        assertEquals(procs, t.defaultProcs());
        assertEquals(compact, places(Affinity.compact(), 5, t));
        assertEquals(scatter, places(Affinity.scatter(), 5, t));
    }

    @Test
    void epyc() {
        Topology t = Machines.read("epyc-2s-nps4");
        assertEquals(12, t.distance(0, 3));
        assertEquals(32, t.distance(3, 4));
        assertEquals(64L << 30, t.memory(7));
        Topology.Cpu cpu = t.cpus().get(200);
        assertEquals(200, cpu.id());
        assertEquals(1, cpu.socket());
        assertEquals(4, cpu.node());
        assertEquals("72,200", TopoReport.list(cpu.siblings()));
        assertEquals(72, cpu.cacheGroup());
        assertEquals(32L << 20, cpu.caches().getLast().bytes());
    }

    @Test
    void otherParts() {
        Topology xeon = Machines.read("xeon-4s");
        assertEquals("1,113", TopoReport.list(xeon.isolated()));
        assertFalse(xeon.online().get(111));
        Topology laptop = Machines.read("hybrid-laptop");
        assertEquals("[performance, efficiency]", laptop.kinds().keySet().toString());
        assertEquals("12-19", TopoReport.list(laptop.kinds().get("efficiency")));
        assertEquals(Map.of(), Machines.read("arm-server").kinds(), "all alike");
        Topology v2 = Machines.read("container-v2");
        assertEquals(2.5, v2.limit().orElseThrow().cpus(), "the pod's is smaller than the container's");
        assertEquals(List.of("4-7", "2-9"), v2.cpusets().stream().map(s -> TopoReport.list(s.cpus())).toList());
        Topology v1 = Machines.read("container-v1");
        assertEquals(1.5, v1.limit().orElseThrow().cpus());
        assertEquals("0-3", TopoReport.list(v1.allowed()));
        assertEquals(List.of("0-3", "0-5"), v1.cpusets().stream().map(s -> TopoReport.list(s.cpus())).toList());
        assertEquals(1663, Machines.read("large-16s").online().length() - 1);
    }

    @Test
    void treeJsonAndPicture() throws Exception {
        Path json = root.resolve("t.json");
        Path svg = root.resolve("t.svg");
        CommandLineRun run = CommandLineRun.of("topo", "--machine=container-v2", "--json=" + json, "--svg=" + svg);
        assertEquals(0, run.code(), run.err());
        assertEquals("""
                16 CPUs online (0-15), 4 usable (4-7)
                not usable: 0-3,8-15
                package 0
                  node 0: CPUs 0-7
                    L3 16 MiB, cores 0 1 2 3 4 5 6 7
                package 1
                  node 1: CPUs 8-15
                    L3 16 MiB, cores 8 9 10 11 12 13 14 15
                distances between nodes
                    0:  10  20
                    1:  20  10
                caches:
                  2 x L3 16 MiB, of 8 CPUs
                cgroup CPU limit: 2.5 CPUs
                  4 CPUs (400000 µs every 100000 µs) in /sys/fs/cgroup/pod/app
                  2.5 CPUs (250000 µs every 100000 µs) in /sys/fs/cgroup/pod
                  CPUs 4-7 in /sys/fs/cgroup/pod/app
                  CPUs 2-9 in /sys/fs/cgroup/pod
                Ps by default: 3; the first of them by affinity:
                  compact  4 5 6
                  scatter  4 5 6
                  cores    4 5 6 (3 Ps)
                  pernode  4-7 4-7 4-7
                """, run.out());
        String text = Files.readString(json);
        assertTrue(text.contains("\"allowed\": \"4-7\"") && text.contains("\"procs\": 3"), text);
        var picture = HtmlPage.parse(Files.readString(svg));
        long usable = 0;
        for (int i = 0; i < picture.getElementsByTagName("rect").getLength(); i++) {
            String style = picture.getElementsByTagName("rect").item(i).getAttributes().getNamedItem("class").getNodeValue();
            usable += style.equals("cpu") ? 1 : 0;
        }
        assertEquals(4, usable);
        List<String> ps = new ArrayList<>();
        for (int i = 0; i < picture.getElementsByTagName("text").getLength(); i++) {
            var letters = picture.getElementsByTagName("text").item(i);
            if (letters.getAttributes().getNamedItem("class") instanceof Node style && style.getNodeValue().equals("p")) {
                ps.add(letters.getPreviousSibling().getPreviousSibling().getTextContent() + letters.getTextContent());
            }
        }
        assertEquals(List.of("4P0", "5P1", "6P2"), ps);
    }

    /** At the size that the picture says it has a letter is 11 pixels high; a page is 1,240 wide. */
    @ParameterizedTest
    @ValueSource(strings = {"epyc-2s-nps4", "xeon-4s", "large-16s", "arm-server", "hybrid-laptop"})
    void picturesFitAPage(String machine) throws Exception {
        Path svg = root.resolve("t.svg");
        assertEquals(0, CommandLineRun.of("topo", "--machine=" + machine, "--svg=" + svg).code());
        Matcher size = Pattern.compile("<svg [^>]*width=\"(\\d+)\" height=\"(\\d+)\" viewBox=\"0 0 (\\d+) (\\d+)\"")
                .matcher(Files.readString(svg));
        assertTrue(size.find());
        assertEquals(size.group(1), size.group(3));
        assertEquals(size.group(2), size.group(4));
        assertTrue(Integer.parseInt(size.group(1)) <= 1240, size.group());
    }

    /** Policies that one asks for; those that say how many Ps there are say it. */
    @Test
    void policies() throws IOException {
        Path json = root.resolve("t.json");
        CommandLineRun run = CommandLineRun.of("topo", "--machine=hybrid-laptop", "--affinity=compact:reserve=16;cores;19,0-1",
                "--json=" + json);
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().endsWith("""
                  compact:reserve=16  0 1 2 3 (4 Ps)
                  cores               0 2 4 6 8 10 12 13 (14 Ps)
                  19,0-1              19 0 1 19 0 1 19 0
                """), run.out());
        String text = Files.readString(json);
        assertTrue(text.contains("\"compact:reserve=16\": {\"procs\": 4, \"cpus\": [\"0\", \"1\", \"2\", \"3\"]}"), text);
        for (String bad : List.of("near", "20", "compact:reserve=x", "none")) {
            CommandLineRun no = CommandLineRun.of("topo", "--machine=hybrid-laptop", "--affinity=" + bad);
            assertEquals(2, no.code(), bad);
            assertEquals(1, no.err().lines().count(), no.err());
        }
    }

    @Test
    void thisMachine() {
        CommandLineRun run = CommandLineRun.of("topo");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains(" CPUs online (") && run.out().contains("package "), run.out());
    }

    /** A file that is changed, what it says then, and what the sentence must name; / stands for a folder in the file's place. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            sys/devices/system/cpu/online|0-x|no list of numbers
            sys/devices/system/cpu/online|5-2|no list of numbers
            sys/devices/system/cpu/online||names no CPU
            sys/devices/system/cpu/online|0-1000000|names CPU 1000000
            sys/devices/system/cpu/online|0-99999999999|no list of numbers
            sys/devices/system/cpu/online|/|is no file
            sys/devices/system/cpu/online|0-16|CPU 16 is online but not present
            sys/devices/system/cpu/isolated|all|no list of numbers
            sys/devices/system/cpu/cpu3/topology/core_cpus_list|4|CPU 3 is not in its own core
            sys/devices/system/cpu/cpu3/topology/core_cpus_list|2-3|CPUs 2-3 are said to share a core, and CPU 2 does not
            sys/devices/system/cpu/cpu3/topology/physical_package_id|one|no number
            sys/devices/system/cpu/cpu3/cache/index0/level|L3|no number
            sys/devices/system/cpu/cpu3/cache/index0/shared_cpu_list|0-2|not among those that share
            sys/devices/system/cpu/cpu3/cache/index0/shared_cpu_list|3-9|does not agree
            sys/devices/system/node/online|0-70000|there is a node 70000
            sys/devices/system/node/online|0-2|and there are 3 nodes
            sys/devices/system/node/node1/cpulist|7-15|CPU 7 is in node 0 and in node 1
            sys/devices/system/node/node1/cpulist|9-15|CPU 8 is in no node
            sys/devices/system/node/node0/distance|10|1 distances, and there are 2 nodes
            sys/devices/system/node/node0/distance|10 near|"near"
            sys/devices/system/node/node0/distance|11 20|must be 10
            proc/self/status|Cpus_allowed_list: many|no list of CPUs
            proc/self/status|Cpus_allowed_list: 40-50|none of the CPUs that are online
            proc/self/status|Cpus_allowed_list: 12-15|leave none of the CPUs of its mask
            sys/fs/cgroup/pod/cpu.max|much 100000|no numbers
            sys/fs/cgroup/pod/cpuset.cpus.effective|2-9-11|no list of CPUs
            """)
    void oneSentence(String file, String says, String names) throws IOException {
        Path path = without(file);
        if ("/".equals(says)) {
            Files.createDirectory(path);
        } else {
            Files.writeString(path, (says == null ? "" : says) + "\n");
        }
        refused(names);
    }

    private void refused(String names) {
        CommandLineRun run = CommandLineRun.of("topo", "--sysfs=" + machine);
        assertEquals(2, run.code(), run.out());
        assertEquals("", run.out());
        assertEquals(1, run.err().lines().count(), run.err());
        assertTrue(run.err().startsWith("gmp: --sysfs: ") && run.err().contains(names), run.err());
    }

    /** A pipe without a writer, a file without an end, links in a circle: nothing hangs. */
    @Test
    void hostile() throws Exception {
        Path file = without("sys/devices/system/cpu/online");
        assertEquals(0, new ProcessBuilder("mkfifo", file.toString()).start().waitFor());
        refused("is no file");
        Files.delete(file);
        Files.createSymbolicLink(file, Path.of("/dev/zero"));
        refused("is no file");
        Files.delete(file);
        Files.createSymbolicLink(file, file);
        refused("is no file");
        Files.delete(file);
        refused("does not exist");
        Files.write(file, new byte[5 << 20]);
        refused("cannot be read, or is too long");
        Files.writeString(file, "0-15\u001b[2J\n1");
        refused("0-15?[2J?1");
        Files.writeString(file, "0-1048575,".repeat(400_000));
        refused("no list of numbers");
    }

    /** Files of cgroups that would take years to follow, or that lead to other folders. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            cgroup|0::|/a|1000000||no path of a cgroup
            cgroup||1:cpu:/x:|100000||100000 lines
            cgroup|0::pod||1||no path of a cgroup
            mountinfo|31 23 0:27 / /x|/..|20|/sys/fs/cgroup rw - cgroup2 cgroup2 rw|outside of
            """)
    void hostileCgroups(String file, String begin, String part, int times, String end, String names) throws IOException {
        String text = (begin == null ? "" : begin) + (part == null ? "" : part).replaceAll(":$", "\n").repeat(times)
                + (end == null ? "" : end);
        Files.writeString(without("proc/self/" + file), text + "\n");
        refused(names);
    }

    /** Each file may be as it is, and together they say that there are a million folders. */
    @Test
    void manyMounts() throws IOException {
        Path cgroup = without("proc/self/cgroup");
        Files.writeString(cgroup, ("0::/" + "a/".repeat(1_500) + "\n").repeat(60));
        refused("more than 16384 folders");
        Files.writeString(cgroup, "0::/pod/app\n");
        Files.writeString(without("proc/self/mountinfo"), "31 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n".repeat(10_000));
        CommandLineRun run = CommandLineRun.of("topo", "--sysfs=" + machine);
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains("cgroup CPU limit: 2.5 CPUs"), run.out());
    }

    @Test
    void badOptions() {
        for (String[] args : new String[][] {{"topo", "--sysfs=/no/such"}, {"topo", "--machine=pdp11"}, {"topo", "--svg=/no/such/d/f"},
            {"topo", "--sysfs=/", "--machine=arm-server"}, {"topo", "x"}}) {
            CommandLineRun run = CommandLineRun.of(args);
            assertEquals(2, run.code());
            assertEquals(1, run.err().lines().count(), run.err());
        }
    }
}
