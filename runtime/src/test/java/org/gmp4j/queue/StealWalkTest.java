// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.affinity.Topology;
import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The steal walk on the structs of a scheduler, on two sockets of two nodes of two caches of two cores of two CPUs. */
class StealWalkTest {
    private static final int CPUS = 32;

    /** As a machine would be numbered whose first 16 CPUs are one of each core. */
    private static int core(int cpu) {
        return cpu % 16;
    }

    private static Places places(Path root) throws Exception {
        for (int cpu = 0; cpu < CPUS; cpu++) {
            Path dir = root.resolve("sys/devices/system/cpu/cpu" + cpu);
            Files.createDirectories(dir.resolve("topology"));
            Files.createDirectories(dir.resolve("cache/index0"));
            Files.writeString(dir.resolve("topology/core_id"), "" + core(cpu));
            Files.writeString(dir.resolve("topology/physical_package_id"), "" + core(cpu) / 8);
            Files.writeString(dir.resolve("topology/core_cpus_list"), core(cpu) + "," + (core(cpu) + 16));
            int c = core(cpu) / 2 * 2;
            Files.writeString(dir.resolve("cache/index0/level"), "3");
            Files.writeString(dir.resolve("cache/index0/shared_cpu_list"), c + "-" + (c + 1) + "," + (c + 16) + "-" + (c + 17));
        }
        Files.writeString(root.resolve("sys/devices/system/cpu/online"), "0-31");
        for (int node = 0; node < 4; node++) {
            Path dir = Files.createDirectories(root.resolve("sys/devices/system/node/node" + node));
            int c = node * 4;
            Files.writeString(dir.resolve("cpulist"), c + "-" + (c + 3) + "," + (c + 16) + "-" + (c + 19));
        }
        Files.writeString(root.resolve("sys/devices/system/node/online"), "0-3");
        List<BitSet> one = IntStream.range(0, CPUS).mapToObj(cpu -> BitSet.valueOf(new long[] {1L << cpu})).toList();
        return Places.of(one, Topology.recorded(root));
    }

    /** A thief without timers. */
    private static final class Thief extends StealWalk {
        private final Random random = new Random(1);

        @Override
        protected int cheaprand() {
            return random.nextInt();
        }

        @Override
        protected boolean runTimers(long victim) {
            return false;
        }
    }

    /** All Ps of a scheduler that runs nothing. */
    private static final class Ps implements AutoCloseable {
        final FakeSched f;
        final long allp;
        final long counts;

        Ps(int procs) {
            f = new FakeSched(procs);
            allp = Memory.map((long) procs * Long.BYTES);
            counts = Memory.map((long) procs * procs * Long.BYTES);
            for (int i = 0; i < procs; i++) {
                Mem.LONG.set(allp + (long) i * Long.BYTES, f.ps[i]);
                PStat.setStolenFrom(f.ps[i], counts + (long) i * procs * Long.BYTES);
            }
            Schedt.ALLP.setRelease(f.sched, allp);
        }

        void give(int p, int gs) {
            for (int i = 0; i < gs; i++) {
                Runq.runqput(f.sched, f.ps[p], f.runnable(), false);
            }
        }

        /** Empties the ring. */
        void drain(int p) {
            while (Runq.runqget(f.ps[p]) != 0) {
                assertNotEquals(-1, p);
            }
        }

        @Override
        public void close() {
            Memory.unmap(allp, (long) f.ps.length * Long.BYTES);
            Memory.unmap(counts, (long) f.ps.length * f.ps.length * Long.BYTES);
            f.close();
        }
    }

    @Test
    void distances(@TempDir Path root) throws Exception {
        Places places = places(root);
        assertEquals(Places.Distance.CORE, places.between(0, 16));
        assertEquals(Places.Distance.CACHE, places.between(0, 1));
        assertEquals(Places.Distance.NODE, places.between(0, 18));
        assertEquals(Places.Distance.PACKAGE, places.between(20, 3));
        assertEquals(Places.Distance.REMOTE, places.between(31, 0));
        assertEquals(Places.Distance.CORE, places.between(5, 5 + CPUS), "two Ps on a CPU");
    }

    /** Whatever the order, a G in the ring or in runnext of any P is found in one search. */
    @ParameterizedTest
    @EnumSource(StealOrder.class)
    void oneSearchFindsWorkAnywhere(StealOrder kind, @TempDir Path root) throws Exception {
        Places places = places(root);
        for (int procs : new int[] {2, 7, CPUS, CPUS + 5}) {
            try (Ps ps = new Ps(procs)) {
                VictimOrder order = new VictimOrder(kind, procs, places);
                Thief thief = new Thief();
                for (int round = 0; round < 2 * 16; round++) {
                    for (int at = 0; at < procs; at++) {
                        int self = (at + 1 + round) % procs;
                        if (self == at) {
                            continue;
                        }
                        long gp = ps.f.runnable();
                        Runq.runqput(ps.f.sched, ps.f.ps[at], gp, round % 2 == 0);
                        assertEquals(gp, thief.steal(order, ps.f.sched, ps.f.ps[self], 0) & ~Runq.INHERIT, kind + " " + procs);
                        assertEquals(at, thief.victim());
                        assertEquals(1, thief.stolen());
                    }
                }
                assertEquals(0, thief.steal(order, ps.f.sched, ps.f.ps[0], 0));
                assertEquals(0, thief.stolen());
            }
        }
    }

    /** Where every other P has work, nearest first robs the nearest, but for one search in sixteen, which robs any. */
    @Test
    void nearestFirstAndItsBound(@TempDir Path root) throws Exception {
        Places places = places(root);
        try (Ps ps = new Ps(CPUS)) {
            VictimOrder order = new VictimOrder(StealOrder.NEAREST, CPUS, places);
            Thief thief = new Thief();
            List<Integer> far = new ArrayList<>();
            for (int p = 1; p < CPUS; p++) {
                ps.give(p, 64);
            }
            for (int search = 1; search <= 20 * 16; search++) {
                assertNotEquals(0, thief.steal(order, ps.f.sched, ps.f.ps[0], 0));
                boolean bound = search % 16 == 0;
                if (!bound) {
                    assertEquals(16, thief.victim(), "the sibling");
                } else {
                    far.add(thief.victim());
                }
                ps.drain(0);
                ps.drain(thief.victim());
                ps.give(thief.victim(), 64);
            }
            assertTrue(far.stream().distinct().count() > 10, far::toString);
            // Without the sibling the one that shares the cache, and so on outwards.
            int[] next = {16, 1, 17, 2, 3, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23};
            for (int victim : next) {
                ps.drain(victim);
            }
            thief = new Thief();
            assertNotEquals(0, thief.steal(order, ps.f.sched, ps.f.ps[0], 0));
            assertEquals(Places.Distance.REMOTE, places.between(0, thief.victim()));
            ps.drain(0);
            ps.give(5, 2);
            assertNotEquals(0, thief.steal(order, ps.f.sched, ps.f.ps[0], 0));
            assertEquals(5, thief.victim(), "same package");
            ps.drain(0);
            ps.give(3, 2);
            assertNotEquals(0, thief.steal(order, ps.f.sched, ps.f.ps[0], 0));
            assertEquals(3, thief.victim(), "same node");
            ps.drain(0);
            ps.give(17, 2);
            assertNotEquals(0, thief.steal(order, ps.f.sched, ps.f.ps[0], 0));
            assertEquals(17, thief.victim(), "same cache");
        }
    }

    /** Of two Ps the fuller one is robbed: with one full P and the others nearly empty that one is robbed more often than by chance. */
    @Test
    void chooseTwoPrefersTheFuller() {
        try (Ps ps = new Ps(8)) {
            int full = 0;
            VictimOrder two = new VictimOrder(StealOrder.TWO, 8, null);
            Thief thief = new Thief();
            for (int p = 1; p < 8; p++) {
                ps.give(p, p == 7 ? 128 : 2);
            }
            for (int search = 0; search < 2_000; search++) {
                assertNotEquals(0, thief.steal(two, ps.f.sched, ps.f.ps[0], 0));
                full += thief.victim() == 7 ? 1 : 0;
                ps.drain(0);
                ps.drain(thief.victim());
                ps.give(thief.victim(), thief.victim() == 7 ? 128 : 2);
            }
            // One of two draws of eight is it in 23 of 100 cases; a uniform walk takes it in 14.
            assertTrue(full > 2_000 * 19 / 100, "robbed the fullest " + full + " times of 2000");
        }
    }

    /** The walk ends at once when the world is to stop, and says so. */
    @ParameterizedTest
    @ValueSource(strings = {"UNIFORM", "TWO"})
    void obeysAStop(String kind) {
        try (Ps ps = new Ps(4)) {
            ps.give(2, 3);
            Schedt.GCWAITING.setVolatile(ps.f.sched, 1);
            Thief thief = new Thief();
            assertEquals(0, thief.steal(new VictimOrder(StealOrder.valueOf(kind), 4, null), ps.f.sched, ps.f.ps[0], 0));
            assertTrue(thief.newWork());
            assertEquals(0, P.NSTEALTRY.getOpaque(ps.f.ps[0]));
            Schedt.GCWAITING.setVolatile(ps.f.sched, 0);
        }
    }
}
