// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import com.sun.management.HotSpotDiagnosticMXBean;
import org.gmp4j.Gmp;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A heap that is full to the last byte ends no scheduler and loses nothing. {@code -Dgmp.heap.seconds} for longer runs. */
class FullHeapTest {
    /** A heap whose last bytes are in no thread's buffer. */
    private static final String[] FULL_FOR_ALL = {"-Xmx16m", "-XX:-UseTLAB"};

    private static final String SECONDS = System.getProperty("gmp.heap.seconds", "1");

    @ParameterizedTest
    @ValueSource(strings = {"Serial", "Parallel", "G1", "Z", "Shenandoah"})
    void whileEverythingRuns(String collector) {
        assumeTrue(isThere("Use" + collector + "GC"), "not every build has it");
        Result r = new ChildJvm(FullHeapProgram.class).with("-Xmx48m", "-XX:+Use" + collector + "GC").run(SECONDS);
        assertEquals("broken [], sum 1000, left []\n", r.out(), () -> r.out() + r.err().lines()
                .filter(line -> !line.startsWith("SCHED") && !line.startsWith("  ")).toList());
        assertEquals(0, r.exit());
    }

    private static boolean isThere(String option) {
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).getVMOption(option);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    @Test
    void theWorldStopsAndGoesOn() {
        Result r = new ChildJvm(FullHeapStopProgram.class).with("-Xmx16m", "-XX:+UseSerialGC").run();
        assertEquals("stopped true, thrown false, goes on true\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** A goroutine that a dump holds is let go although there was no memory to look at the dump. */
    @Test
    void aDumpWaits() {
        Result r = new ChildJvm(FullHeapDumpProgram.class).with(FULL_FOR_ALL).run();
        assertEquals("all ended\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    @Test
    void nothingToWaitWith() {
        Result r = new ChildJvm(NoSudogProgram.class).with("-Xmx16m").run();
        assertEquals("refused [true, true, true, true, true], sent false, taken true, got 1\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Waits that began before end, although none of their kind has ended in the process. */
    @ParameterizedTest
    @ValueSource(strings = {"goroutines", "threads"})
    void forTheFirstTime(String whose) {
        Result r = new ChildJvm(FullHeapFirstProgram.class).with(FULL_FOR_ALL).run(whose);
        assertEquals("waits on: [], thrown: []\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** The first context of a process that is cancelled wakes its waiter. */
    @Test
    void theFirstCancel() {
        forTheFirstTimeAlone("sleep unless");
    }

    /** The first wait of a process ends, too. */
    @Tag("long")
    @ParameterizedTest
    @MethodSource("waits")
    void forTheFirstTimeAlone(String wait) {
        Result r = new ChildJvm(FullHeapFirstProgram.class).with(FULL_FOR_ALL).run("goroutines", wait);
        assertEquals("waits on: [], thrown: []\n", r.out(), r::toString);
    }

    static List<String> waits() {
        return FullHeapFirstProgram.names();
    }

    /** Nothing is lost when memory runs out between two steps of the poller's making, or of a scheduler's end. */
    @Tag("long")
    @Test
    void stepByStep() throws ClassNotFoundException {
        Result r = new ChildJvm(Class.forName("org.gmp4j.netpoll.FullHeapStepsProgram")).with("-Xmx16m").run();
        assertEquals("pollers 0, live 0, refused true\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Structs that are given back need no memory, or each would cost some collections and be lost. */
    @Test
    void structsAreGivenBack() throws ClassNotFoundException {
        Result r = new ChildJvm(Class.forName("org.gmp4j.struct.FullHeapRecycleProgram")).with("-Xmx16m", "-XX:+UseSerialGC").run();
        assertEquals("0\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** A virtual thread of the JDK's is about to wait for a channel, whose lock it has. */
    @Test
    void aVirtualThreadWaitsWithAFullHeap() {
        Result r = new ChildJvm(FullHeapParkProgram.class).with("-Xmx16m").run();
        assertEquals("7\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Sysmon needs no memory to learn whether the JVM shuts down, not even for the JDK's exception. */
    @Test
    void aShutdown() {
        Result r = new ChildJvm(FullHeapShortageProgram.class).with("-Xmx16m", "-XX:+UseSerialGC").run();
        assertEquals("tried, null\nwaited, null\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** It is made or refused: nothing hangs, or ends the process. */
    @ParameterizedTest
    @ValueSource(strings = {"100", "600", "1150", "1250", "2500"})
    void theFirstScheduler(String kilobytes) {
        Result r = new ChildJvm(FullHeapBuildProgram.class).with("-Xmx16m").run(kilobytes);
        assertEquals("over\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** What counts a goroutine of a bubble out when it parks is no object: the caller holds locks. */
    @Test
    void aBubbleParksWithoutAnObject() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> Synctest.test(() -> {
                GStack st = GStack.current();
                Park.Unlock one = Bubble.parking(st, (gp, lock) -> true);
                Park.Unlock two = Bubble.parking(st, (gp, lock) -> false);
                st.unlock = null;
                st.durable = false;
                assertSame(one, two);
            }));
        }
    }

    /**
     * A thread that finds no memory for an M gives its struct back, on the stack of a goroutine that may be waiting already: a contended
     * monitor must not take it off its thread.
     */
    @Test
    void aStructIsGivenBackOnTheSameThread() throws Exception {
        Field arena = Struct.class.getDeclaredField("arena");
        arena.setAccessible(true);
        Object monitor = arena.get(Struct.P); // No other thread wants a P meanwhile.
        AtomicReference<GStack> giver = new AtomicReference<>();
        try (TestGmp gmp = TestGmp.procs(1)) {
            long struct = Mem.alloc(Struct.P, 1);
            Thread waits;
            synchronized (monitor) {
                waits = new Thread(() -> gmp.run(() -> {
                    giver.set(GStack.current());
                    Mem.recycle(Struct.P, struct);
                }));
                waits.start();
                while (giver.get() == null || giver.get().thread.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                assertNotEquals(0, G.M.get(giver.get().gp), "it is still on its M");
            }
            waits.join();
        }
    }

    /** The idle hook fails as it finds no memory; there is none either to say so. */
    static final class IdleHook implements BooleanSupplier {
        private static volatile Object ballast;
        private static volatile boolean full;

        private IdleHook() {
        }

        @Override
        public boolean getAsBoolean() {
            Object[] all = null;
            try {
                for (int size = 1 << 16; size > 0;) {
                    try {
                        all = new Object[] {all, new byte[size]};
                        ballast = all;
                    } catch (OutOfMemoryError e) {
                        size /= 4;
                    }
                }
                for (;;) {
                    all = new Object[] {all};
                    ballast = all;
                }
            } finally {
                full = true;
            }
        }

        public static void main(String[] args) throws Exception {
            Gmp gmp = Gmp.builder().procs(1).build();
            Scheduler s = gmp.call(() -> GStack.current().s);
            boolean _ = full;
            while (Schedt.NPIDLE.getVolatile(s.sched) == 0) {
                Thread.onSpinWait();
            }
            s.setIdleHook(new IdleHook());
            gmp.go(() -> { });
            while (!full || Schedt.NPIDLE.getVolatile(s.sched) == 0) {
                Thread.onSpinWait();
            }
            ballast = null;
            System.out.println(gmp.call(() -> 7));
            System.exit(0);
        }
    }

    @Test
    void theIdleHookFails() {
        Result r = new ChildJvm(IdleHook.class).with("-Xmx16m", "-XX:+UseSerialGC").run();
        assertEquals("7\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** More Ps than there is memory for. */
    static final class Resize {
        private Resize() {
        }

        public static void main(String[] args) {
            Gmp gmp = Gmp.builder().procs(2).build();
            gmp.run(() -> { });
            int old = gmp.setProcs(3);
            List<byte[]> ballast = new ArrayList<>(1 << 16);
            try {
                for (;;) {
                    ballast.add(new byte[1 << 16]);
                }
            } catch (OutOfMemoryError e) {
                try {
                    old = gmp.setProcs(4096);
                } catch (OutOfMemoryError expected) {
                    old = -1;
                }
            }
            ballast.clear();
            gmp.run(() -> { });
            System.out.printf("%d, %d, %d%n", old, gmp.setProcs(1), gmp.setProcs(2));
            gmp.run(() -> { });
            System.exit(0);
        }
    }

    @Test
    void tooManyProcs() {
        Result r = new ChildJvm(Resize.class).with("-Xmx16m").run();
        assertEquals("-1, 3, 1\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
