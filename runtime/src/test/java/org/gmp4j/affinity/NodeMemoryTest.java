// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.gmp4j.Gmp;
import org.gmp4j.check.Invariants;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.events.Batch;
import org.gmp4j.events.Tracer;
import org.gmp4j.ffi.Memory;
import org.gmp4j.memory.Mcache;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.NodeQueues;
import org.gmp4j.queue.Places;
import org.gmp4j.report.Report;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.timer.TimerHeaps;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Memory of a P is asked from the node of its CPUs. The nodes are those of a machine that is not here; what the kernel was asked for
 * stands in {@code /proc/self/numa_maps}. Of a node that is not there it refuses, and all goes on.
 */
class NodeMemoryTest {
    private static final Path MAPS = Path.of("/proc/self/numa_maps");

    @TempDir
    Path root;

    @BeforeAll
    static void theKernelHasPolicies() {
        assumeTrue(Files.isReadable(MAPS) && Memory.preferNode(Memory.map(1 << 16), 1 << 16, 0), "no NUMA policies here");
    }

    private Topology twoNodes() {
        return new FakeSystem(root).twoSocketsSmt().topology("0-7");
    }

    private Placement placement(String affinity, Placement.Dealer dealer) {
        List<BitSet> sets = Affinity.parse(affinity).places(twoNodes());
        return new Placement(sets, Places.of(sets, twoNodes()), Config.MOST_PROCS, dealer);
    }

    private static Scheduler start(int procs, Placement placement) {
        return start(procs, placement, false);
    }

    private static Scheduler start(int procs, Placement placement, boolean nodeQueues) {
        return Schedinit.schedinit(new Config(procs, null, placement, StealOrder.UNIFORM, nodeQueues, 0, 10_000_000, 10_000_000, 10, -1,
                1 << 20, null, false, false, 0, DebugVars.OFF), new TimerHeaps(), Netpoll.NONE, Sysmon::new, Report.ALL);
    }

    /** The policy of the mapping with this address. */
    private static String policy(long address) throws IOException {
        String found = "";
        for (String line : Files.readAllLines(MAPS)) {
            String[] words = line.split(" ");
            if (Long.parseUnsignedLong(words[0], 16) > address) {
                break;
            }
            found = words[1];
        }
        return found;
    }

    /** What the kernel was asked for, where it has that node. */
    private static String prefer(int node) {
        return Files.exists(Path.of("/sys/devices/system/node/node" + node)) ? "prefer:" + node : "default";
    }

    /** The kernel's flags of the mapping with this address, as {@code /proc/PID/smaps} has them. */
    private static List<String> flags(long address) throws IOException {
        boolean here = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            Matcher range = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) .*").matcher(line);
            if (range.matches()) {
                here = Long.compareUnsigned(Long.parseUnsignedLong(range.group(1), 16), address) <= 0
                        && Long.compareUnsigned(address, Long.parseUnsignedLong(range.group(2), 16)) < 0;
            } else if (here && line.startsWith("VmFlags:")) {
                return List.of(line.substring("VmFlags:".length()).strip().split(" "));
            }
        }
        return List.of();
    }

    @SuppressWarnings("restricted")
    private static int nodeOfPage(long address) throws Throwable {
        int call = System.getProperty("os.arch").equals("aarch64") ? 239 : 279;
        Linker linker = Linker.nativeLinker();
        MethodHandle movePages = linker.downcallHandle(linker.defaultLookup().findOrThrow("syscall"),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocateFrom(JAVA_LONG, address & -4096);
            MemorySegment status = arena.allocateFrom(JAVA_INT, -1);
            long r = (long) movePages.invokeExact((long) call, 0L, 1L, page, MemorySegment.NULL, status, 0L);
            assertEquals(0, r);
            return status.get(JAVA_INT, 0);
        }
    }

    /** The kernel was asked for memory of this node, and gave some; where it has no such node, it refused. */
    private static void isOn(int node, long address) throws Throwable {
        boolean there = Files.exists(Path.of("/sys/devices/system/node/node" + node));
        assertEquals(there ? "prefer:" + node : "default", policy(address));
        if (there) {
            assertEquals(node, nodeOfPage(address));
        }
    }

    private static void run(Scheduler s, Runnable body) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Newproc.newproc(s, () -> {
            try {
                body.run();
            } catch (Throwable t) {
                thrown.set(t);
            }
            done.countDown();
        });
        done.await();
        if (thrown.get() != null) {
            throw new AssertionError(thrown.get());
        }
    }

    @Test
    void nodesOfPlaces() {
        Placement scatter = placement("scatter", null);
        Placement compact = placement("compact", null);
        Placement perNode = placement("pernode", null);
        Placement none = placement("none:reserve=1", null);
        for (int p = 0; p < 16; p++) {
            assertEquals(p % 2, scatter.node(p));
            assertEquals(p % 8 / 4, compact.node(p));
            assertEquals(p % 2, perNode.node(p));
            assertEquals(-1, none.node(p)); // Of both.
            assertEquals(-1, Placement.NONE.node(p));
        }
        Topology one = new FakeSystem(root.resolve("one")).topology("0-3");
        List<BitSet> sets = Affinity.compact().places(one);
        assertEquals(-1, Places.of(sets, one).node(0)); // Nothing to choose.
    }

    @Test
    void structsOfPs() throws Throwable {
        Scheduler s = start(4, placement("scatter", () -> null));
        for (int p = 0; p < 4; p++) {
            isOn(p % 2, s.procs()[p].pp);
            assertEquals(p % 2, s.procs()[p].node());
        }
        run(s, () -> { });
        assertTrue(Closing.close(s, -1));
        Scheduler again = start(1, placement("scatter", () -> null)); // Recycled, of the right node.
        assertEquals(prefer(0), policy(again.procs()[0].pp));
        assertTrue(Closing.close(again, -1));
        Scheduler roams = start(1, Placement.NONE);
        assertEquals("default", policy(roams.procs()[0].pp));
        assertTrue(Closing.close(roams, -1));
    }

    /** All run that yield, and are in the lists of their nodes meanwhile, while Ps come and go. */
    @Test
    void queuesOfNodes() throws Throwable {
        Scheduler s = start(4, placement("scatter", () -> null), true);
        int goroutines = 400;
        CountDownLatch left = new CountDownLatch(goroutines);
        AtomicReference<String> broken = new AtomicReference<>("");
        AtomicBoolean seen = new AtomicBoolean(); // Whether a goroutine was in a list of a node.
        run(s, () -> {
            for (int i = 0; i < goroutines; i++) {
                Newproc.newproc(s, () -> {
                    for (int n = 0; n < 50 || !seen.get(); n++) {
                        org.gmp4j.Go.gosched();
                    }
                    left.countDown();
                });
            }
        });
        for (int procs = 4; left.getCount() > 0; procs = 1 + procs % 4) {
            int now = procs;
            int _ = StopTheWorld.setProcs(s, procs);
            boolean[] inLists = new boolean[1];
            StopTheWorld.withWorldStopped(s, () -> {
                long nodeq = Schedt.NODEQ.get(s.sched);
                for (int i = 1; i <= NodeQueues.lists(nodeq); i++) {
                    inLists[0] |= GlobalRunq.head(NodeQueues.list(nodeq, i)) != 0;
                }
                if (NodeQueues.lists(nodeq) != (now == 1 ? 0 : 2)) {
                    broken.set(NodeQueues.lists(nodeq) + " lists for " + now + " Ps");
                }
                List<String> found = Invariants.check(s);
                if (!found.isEmpty()) {
                    broken.set(found.toString());
                }
            });
            seen.compareAndSet(false, inLists[0]);
        }
        left.await();
        assertEquals("", broken.get());
        assertTrue(Closing.close(s, -1));
    }

    @Test
    void traceBuffers() throws Throwable {
        Tracer t = new Tracer(3, 3 << 19, null);
        t.ring(0).place(0);
        t.ring(1).place(1);
        for (int i = 0; i < 10_000; i++) {
            t.ring(0).event(1, 0, i, 0);
            t.ring(1).event(1, 0, i, 0);
            t.ring(2).event(1, 0, i, 0);
        }
        t.close();
        int batches = 0;
        for (Batch b = t.batches.poll(); b != null; b = t.batches.poll(), batches++) {
            if (b.ring() == 2) {
                assertEquals("default", policy(b.address));
            } else {
                isOn(b.ring(), b.address);
            }
        }
        assertTrue(batches > 4, batches + " batches");
        t.release();
    }

    @Test
    void hugePages() throws IOException {
        assumeTrue(Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage")));
        try (Mcache usual = Mcache.create(); Mcache huge = Mcache.builder().hugePages(true).build()) {
            assertFalse(flags(usual.allocate(100).address()).contains("hg"));
            assertTrue(flags(huge.allocate(100).address()).contains("hg"));
            assertTrue(flags(huge.allocate(3 << 20).address()).contains("hg"));
            assertEquals(0, huge.allocate(3 << 20).address() % (2 << 20));
        }
        int many = (int) ((2L << 20) / Mem.stride(Struct.P)); // More than is left of a chunk.
        assertFalse(flags(Mem.alloc(Struct.P, many)).contains("hg"));
        try (Gmp gmp = Gmp.builder().procs(1).hugePages(true).build()) {
            gmp.run(() -> { });
            long structs = Mem.alloc(Struct.P, many);
            assertTrue(flags(structs).contains("hg"));
            assertEquals(0, structs % (2 << 20));
        }
    }

    /** Blocks of a P's node; those of another that are given back there return. When the P moves, what it has does too. */
    @Test
    void segments() throws Throwable {
        AtomicReference<Placement> next = new AtomicReference<>();
        Scheduler s = start(1, placement("pernode", next::get));
        MemorySegment[] kept = new MemorySegment[100];
        try (Mcache memory = Mcache.create()) {
            run(s, () -> {
                for (int i = 0; i < kept.length; i++) {
                    kept[i] = memory.allocate(64);
                }
                memory.free(memory.allocate(100_000));
            });
            kept[0].fill((byte) 1);
            isOn(0, kept[0].address());
            assertEquals(0, memory.stats().unboundMappings());
            List<BitSet> sets = Affinity.cpus("2", twoNodes()).places(twoNodes());
            next.set(new Placement(sets, Places.of(sets, twoNodes()), Config.MOST_PROCS, () -> null));
            long[] moved = new long[1];
            run(s, () -> {
                while (GStack.current().scheduler().procs()[0].node() != 1) {
                    org.gmp4j.Go.gosched();
                }
                for (MemorySegment k : kept) {
                    memory.free(k);
                }
                MemorySegment fresh = memory.allocate(64);
                moved[0] = fresh.address();
                memory.free(fresh);
            });
            isOn(1, moved[0]); // It was touched by free, on the node or elsewhere.
            assertEquals(0, memory.stats().live());
            assertEquals(1, memory.stats().caches());
            assertEquals(prefer(1).equals("default") ? 1 : 0, memory.stats().unboundMappings());
            next.set(placement("pernode", () -> null));
        }
        assertTrue(Closing.close(s, -1));
    }
}
