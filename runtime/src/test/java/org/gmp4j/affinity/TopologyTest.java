// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;

import org.gmp4j.affinity.Topology.Cache;
import org.gmp4j.affinity.Topology.CacheType;
import org.gmp4j.affinity.Topology.Cpu;
import org.gmp4j.affinity.Topology.CpuLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopologyTest {
    private static final String V2 = "31 23 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw";
    private static final String V1 =
            "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct";

    @TempDir
    Path root;

    private FakeSystem fake() {
        return new FakeSystem(root);
    }

    private Topology eight() {
        return fake().topology("0-7");
    }

    private static BitSet set(String cpus) {
        return FakeSystem.set(cpus);
    }

    @Test
    void readsCoresNodesAndCaches() {
        Topology t = fake().twoSocketsSmt().topology("0-7");
        assertEquals(8, t.cpus().size());
        Cpu cpu = t.cpus().get(7);
        assertEquals(7, cpu.id());
        assertEquals(1, cpu.core());
        assertEquals(1, cpu.socket());
        assertEquals(1, cpu.node());
        assertEquals(set("3,7"), cpu.siblings());
        assertEquals(List.of(
                new Cache(1, CacheType.DATA, 48 << 10, set("3,7")),
                new Cache(1, CacheType.INSTRUCTION, 32 << 10, set("3,7")),
                new Cache(2, CacheType.UNIFIED, 2 << 20, set("3,7")),
                new Cache(3, CacheType.UNIFIED, 32 << 20, set("2-3,6-7"))), cpu.caches());
        assertEquals(set("0-1,4-5"), t.nodes().get(0).cpus());
        assertEquals(set("2-3,6-7"), t.nodes().get(1).cpus());
        assertEquals(10, t.distance(1, 1));
        assertEquals(21, t.distance(0, 1));
        assertEquals(Optional.empty(), t.limit());
        assertEquals(8, t.defaultProcs());
    }

    @Test
    void maskLeavesCpusOut() {
        Topology t = fake().twoSocketsSmt().topology("2,5");
        assertEquals(set("2,5"), t.allowed());
        assertEquals(set("0-7"), t.online());
        assertEquals(set("5"), t.nodes().get(0).cpus());
        assertEquals(set("1,5"), t.cpus().get(1).siblings());
        assertEquals(2, t.defaultProcs());
    }

    @Test
    void handedOutSetsAreCopies() {
        Topology t = fake().twoSocketsSmt().topology("0-7");
        t.allowed().clear();
        t.online().clear();
        t.nodes().get(0).cpus().clear();
        t.cpus().get(0).siblings().clear();
        t.cpus().get(0).caches().get(0).cpus().clear();
        assertEquals(fake().topology("0-7").describe(), t.describe());
    }

    @Test
    void flatWhenNothingIsTold() {
        Topology t = fake().topology("1,3");
        assertEquals(set("1,3"), t.online());
        Cpu one = new Cpu(1, 1, 0, 0, set("1"), List.of());
        Cpu three = new Cpu(3, 3, 0, 0, set("3"), List.of());
        assertEquals(List.of(one, three), t.cpus());
        assertEquals(1, t.nodes().size());
        assertEquals(set("1,3"), t.nodes().get(0).cpus());
        assertEquals(10, t.distance(0, 0));
        assertEquals(20, t.distance(0, 1));
        assertEquals(2, t.defaultProcs());
        assertTrue(t.describe().contains("caches: unknown"), t.describe());
    }

    @Test
    void nonsenseIsAsGoodAsMissing() {
        Topology t = fake().online("zero").nodes("0").node(0, "4-1", "ten").cpu(0, -1, -1, "0-").topology("0-1");
        assertEquals(new Cpu(0, 0, 0, 0, set("0"), List.of()), t.cpus().get(0));
        assertEquals(set("0-1"), t.nodes().get(0).cpus());
        assertEquals(10, t.distance(0, 0));
    }

    @Test
    void siblingsThatLeaveTheCpuOutAreNotBelieved() {
        Topology t = fake().cpu(1, 0, 0, "0,2").topology("1");
        assertEquals(set("1"), t.cpus().get(0).siblings());
    }

    @Test
    void oldKernelsNameOfSiblings() {
        Topology t = fake().file("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1").topology("0-1");
        assertEquals(set("0-1"), t.cpus().get(1).siblings());
    }

    @Test
    void nodesWithGapsAndMemoryOnly() {
        Topology t = fake().nodes("0,2,5").node(0, "0-1", "10 20 30").node(2, "2-3", "20 10 40").node(5, "", "30 40 10")
                .topology("0-3");
        assertEquals(40, t.distance(2, 5));
        assertEquals(20, t.distance(2, 0));
        assertTrue(t.nodes().get(2).cpus().isEmpty());
        assertTrue(t.describe().contains("node 5: no usable CPUs"), t.describe());
    }

    @Test
    void cpuThatNoNodeNamesGoesToTheFirst() {
        Topology t = fake().nodes("1-2").node(1, "0", "10 20").node(2, "1", "20 10").topology("0-2");
        assertEquals(set("0,2"), t.nodes().get(0).cpus());
    }

    @Test
    void limitOfVersion2() {
        fake().cgroup("0::/app").mounts(V2).file("/sys/fs/cgroup/app/cpu.max", "250000 100000");
        assertEquals(List.of(new CpuLimit("/sys/fs/cgroup/app", 250_000, 100_000)), eight().limits());
        assertEquals(3, eight().defaultProcs());
        assertEquals(2, fake().topology("0-1").defaultProcs());
        assertTrue(eight().toString().contains("limit 2.5 CPUs, default procs 3"), eight().toString());
    }

    @Test
    void smallestLimitCountsWhereverItSits() {
        fake().cgroup("0::/a/b/c").mounts(V2)
                .file("/sys/fs/cgroup/a/cpu.max", "600000 100000")
                .file("/sys/fs/cgroup/a/b/cpu.max", "30000 10000")
                .file("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000");
        assertEquals(2, eight().limits().size());
        assertEquals(3.0, eight().limit().orElseThrow().cpus());
        assertEquals(3, eight().defaultProcs());
        fake().file("/sys/fs/cgroup/a/b/c/cpu.max", "500000 100000")
                .file("/sys/fs/cgroup/other/cpu.max", "100000 100000");
        assertEquals(3, eight().defaultProcs());
    }

    @Test
    void limitDoesNotGoBelowTwoButTheMaskDoes() {
        fake().cgroup("0::/a").mounts(V2).file("/sys/fs/cgroup/a/cpu.max", "1000 100000");
        assertEquals(2, eight().defaultProcs());
        assertEquals(1, fake().topology("3").defaultProcs());
    }

    @Test
    void hugeLimitIsNoLimit() {
        fake().cgroup("0::/a").mounts(V2).file("/sys/fs/cgroup/a/cpu.max", Long.MAX_VALUE + " 1");
        assertEquals(8, eight().defaultProcs());
    }

    @Test
    void limitOfVersion1OnAnAncestor() {
        fake().cgroup("5:memory:/m\n4:cpu,cpuacct:/pod/app\n1:name=systemd:/").mounts(V1)
                .file("/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "450000")
                .file("/sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "100000")
                .file("/sys/fs/cgroup/cpu,cpuacct/pod/app/cpu.cfs_quota_us", "-1")
                .file("/sys/fs/cgroup/cpu,cpuacct/pod/app/cpu.cfs_period_us", "100000");
        assertEquals(List.of(new CpuLimit("/sys/fs/cgroup/cpu,cpuacct/pod", 450_000, 100_000)), eight().limits());
        assertEquals(5, eight().defaultProcs());
    }

    @Test
    void followed() {
        fake().cgroup("0::/a/b").mounts(V2).file("/sys/fs/cgroup/a/cpu.max", "300000 100000");
        CpuLimits.Followed f = new CpuLimits.Followed(new SysFiles(root));
        assertEquals(List.of(new CpuLimit("/sys/fs/cgroup/a", 300_000, 100_000)), f.now());
        fake().file("/sys/fs/cgroup/a/cpu.max", "200000 100000").file("/sys/fs/cgroup/a/b/cpu.max", "100000 100000");
        assertEquals(List.of(new CpuLimit("/sys/fs/cgroup/a/b", 100_000, 100_000), new CpuLimit("/sys/fs/cgroup/a", 200_000, 100_000)),
                f.now());
        fake().file("/sys/fs/cgroup/a/b/cpu.max", "max 100000").file("/sys/fs/cgroup/a/cpu.max", "max 100000");
        assertEquals(List.of(), f.now());
        fake().cgroup("0::/c").file("/sys/fs/cgroup/c/cpu.max", "400000 100000");
        assertEquals(List.of(new CpuLimit("/sys/fs/cgroup/c", 400_000, 100_000)), f.now());
        fake().cgroup("0::/d").mounts("33 31 0:29 /d /mnt rw - cgroup2 none rw").file("/mnt/cpu.max", "500000 100000");
        assertEquals(List.of(new CpuLimit("/mnt", 500_000, 100_000)), f.now());
    }

    @Test
    void bothVersionsAreAsked() {
        fake().cgroup("4:cpu:/x\n0::/y").mounts("33 31 0:29 / /cg1 rw - cgroup cgroup rw,cpu\n"
                        + "34 31 0:30 / /cg2 rw - cgroup2 none rw")
                .file("/cg1/x/cpu.cfs_quota_us", "400000").file("/cg1/x/cpu.cfs_period_us", "100000")
                .file("/cg2/y/cpu.max", "300000 100000");
        assertEquals(2, eight().limits().size());
        assertEquals(3, eight().defaultProcs());
    }

    @Test
    void periodThatIsNoNumberBesideNoQuotaIsNoLimit() {
        fake().cgroup("4:cpu:/x").mounts("33 31 0:29 / /cg1 rw - cgroup cgroup rw,cpu").file("/cg1/x/cpu.cfs_period_us", "often");
        assertEquals(List.of(), eight().limits());
    }

    @Test
    void cpuacctAloneIsNotTheCpuController() {
        fake().cgroup("4:cpuacct:/x").mounts("33 31 0:29 / /cg1 rw - cgroup cgroup rw,cpuacct")
                .file("/cg1/x/cpu.cfs_quota_us", "100000").file("/cg1/x/cpu.cfs_period_us", "100000");
        assertEquals(List.of(), eight().limits());
    }

    @Test
    void containerSeesOnlyItsOwnPartOfTheHierarchy() {
        fake().cgroup("4:cpu:/docker/abc/inner").mounts("33 31 0:29 /docker/abc /cg rw - cgroup cgroup rw,cpu")
                .file("/cg/cpu.cfs_quota_us", "300000").file("/cg/cpu.cfs_period_us", "100000")
                .file("/cg/inner/cpu.cfs_quota_us", "700000").file("/cg/inner/cpu.cfs_period_us", "100000");
        assertEquals(List.of("/cg/inner", "/cg"), eight().limits().stream().map(CpuLimit::cgroup).toList());
        assertEquals(3, eight().defaultProcs());
    }

    @Test
    void pathOutsideOurMountsLeavesTheMountPoint() {
        fake().cgroup("0::/../../host").mounts(V2).file("/sys/fs/cgroup/cpu.max", "300000 100000")
                .file("/sys/fs/host/cpu.max", "100000 100000");
        assertEquals(List.of("/sys/fs/cgroup"), eight().limits().stream().map(CpuLimit::cgroup).toList());
    }

    @Test
    void mountOfAnotherCgroupIsNotOurs() {
        fake().cgroup("0::/mine").mounts(V2 + "\n35 31 0:27 /theirs /elsewhere rw - cgroup2 cgroup2 rw")
                .file("/elsewhere/cpu.max", "100000 100000").file("/sys/fs/cgroup/mine/cpu.max", "500000 100000");
        assertEquals(5, eight().defaultProcs());
    }

    @Test
    void escapedMountPoint() {
        fake().cgroup("0::/").mounts("31 23 0:27 / /a\\040b rw - cgroup2 cgroup2 rw")
                .file("/a b/cpu.max", "300000 100000");
        assertEquals(3, eight().defaultProcs());
    }

    @Test
    void brokenCgroupFilesAreNoLimit() {
        fake().cgroup("0::/a\nnonsense\n").mounts(V2 + "\nnonsense\n1 2 - cgroup2")
                .file("/sys/fs/cgroup/a/cpu.max", "");
        assertEquals(List.of(), eight().limits());
        for (String text : List.of("lots 100000", "200000 0", "-5 100000", "99999999999999999999 1")) {
            fake().file("/sys/fs/cgroup/a/cpu.max", text);
            assertEquals(List.of(), eight().limits(), text);
        }
        fake().file("/sys/fs/cgroup/a/cpu.max", "300000");
        assertEquals(3, eight().defaultProcs());
    }

    @Test
    void describesTheMachine() {
        fake().twoSocketsSmt().cgroup("0::/a").mounts(V2).file("/sys/fs/cgroup/a/cpu.max", "150000 100000");
        assertEquals("""
                CPUs: 7 usable (0-6) of 8 online (0-7)
                node 0: CPUs 0-1,4-5
                  distance to node 0 is 10, 1 is 21
                  socket 0 core 0: CPUs 0,4
                  socket 0 core 1: CPUs 1,5
                node 1: CPUs 2-3,6
                  distance to node 0 is 21, 1 is 10
                  socket 1 core 0: CPUs 2,6
                  socket 1 core 1: CPU 3
                caches:
                  4 x L1d 48 KiB, shared by 2 CPUs
                  4 x L1i 32 KiB, shared by 2 CPUs
                  4 x L2 2 MiB, shared by 2 CPUs
                  2 x L3 32 MiB, shared by 4 CPUs
                cgroup CPU limit: 1.5 CPUs
                  1.5 CPUs (150000 µs every 100000 µs) in /sys/fs/cgroup/a
                default procs: 2""", fake().topology("0-6").describe());
        assertEquals("Topology[CPUs 0-6, 4 cores, 2 nodes, limit 1.5 CPUs, default procs 2]",
                fake().topology("0-6").toString());
    }

    @Test
    void thisMachine() {
        Topology t = Topology.system();
        assertEquals(t.defaultProcs(), Topology.systemProcs());
        assertFalse(t.allowed().isEmpty());
        assertEquals(t.allowed(), org.gmp4j.ffi.Affinity.get(Math.toIntExact(ProcessHandle.current().pid())));
        assertArrayEquals(t.allowed().stream().toArray(), t.cpus().stream().mapToInt(Cpu::id).toArray());
        assertTrue(t.defaultProcs() >= 1 && t.defaultProcs() <= t.allowed().cardinality());
        BitSet inNodes = new BitSet();
        t.nodes().forEach(n -> inNodes.or(n.cpus()));
        assertEquals(t.allowed(), inNodes);
        assertTrue(t.describe().endsWith("default procs: " + t.defaultProcs()), t.describe());
    }

    @Test
    void pinnedThreadStillSeesTheProcess() throws InterruptedException {
        BitSet all = Topology.system().allowed();
        BitSet one = new BitSet();
        one.set(all.nextSetBit(0));
        BitSet[] seen = new BitSet[1];
        Thread pinned = new Thread(() -> {
            org.gmp4j.ffi.Affinity.set(0, one);
            seen[0] = Topology.system().allowed();
        });
        pinned.start();
        pinned.join();
        assertEquals(all, seen[0]);
    }
}
