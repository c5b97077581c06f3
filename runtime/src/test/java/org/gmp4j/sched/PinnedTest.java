// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Go;
import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.Topology;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The thread that a goroutine runs on may run on the CPUs of its P, and does: as the kernel tells another thread, under every policy,
 * and after all that gives a goroutine another thread or a thread another P.
 */
class PinnedTest {
    private static final int ROUNDS = 8;

    private final AtomicLong asked = new AtomicLong();
    private final AtomicReference<String> told = new AtomicReference<>();
    private final AtomicBoolean end = new AtomicBoolean();
    private final Thread observer = new Thread(this::observe);
    private Affinity affinity;
    private BitSet all;

    @BeforeEach
    void begin() {
        all = Topology.systemCpus();
        assumeTrue(all.cardinality() > 1, "one CPU");
        observer.start();
    }

    @AfterEach
    void end() throws InterruptedException {
        end.set(true);
        observer.join();
    }

    private void observe() {
        while (!end.get()) {
            long tid = asked.getAndSet(0);
            if (tid == 0) {
                Thread.yield();
                continue;
            }
            try {
                told.set(Files.readAllLines(Path.of("/proc/self/task/" + tid + "/status")).stream()
                        .filter(l -> l.startsWith("Cpus_allowed_list:")).findFirst().orElseThrow().replaceFirst("^[^\t]*\t", ""));
            } catch (IOException e) {
                told.set(e.toString());
            }
        }
    }

    private static BitSet set(String list) {
        BitSet set = new BitSet();
        for (String item : list.split(",")) {
            String[] ends = item.split("-");
            set.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
        }
        return set;
    }

    /** The calling goroutine keeps its P and its thread while the other thread looks. */
    private void look(String when) {
        GStack st = GStack.enter();
        String cpus;
        int id;
        int on;
        int procs;
        try {
            id = P.ID.get(st.machine().pp());
            procs = st.scheduler().gomaxprocs();
            told.set(null);
            asked.set(M.PROCID.get(st.machine().mp));
            while (told.get() == null) {
                Thread.onSpinWait();
            }
            cpus = told.get();
            on = org.gmp4j.ffi.Affinity.currentCpu();
        } finally {
            GStack.exit(st);
        }
        List<BitSet> places = affinity.place(procs);
        BitSet wanted = places.isEmpty() ? all : places.get(id);
        assertEquals(wanted, set(cpus), when + ", P" + id + " of " + procs + " under " + affinity);
        assertTrue(wanted.get(on), when + ", P" + id + " under " + affinity + " runs on CPU " + on);
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "compact", "scatter", "cores", "pernode", "compact:reserve=1", "none:reserve=1",
        "the last and the first"})
    void everywhere(String policy) {
        affinity = Affinity.parse(policy.startsWith("the") ? all.length() - 1 + "," + all.nextSetBit(0) : policy);
        AtomicBoolean stop = new AtomicBoolean();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).affinity(affinity).quantum(Duration.ofMillis(1)))) {
            for (int i = 0; i < 4; i++) {
                gmp.go(() -> {
                    while (!stop.get()) {
                        Go.gosched();
                    }
                });
            }
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    gmp.run(() -> look("at its start"));
                    for (int procs : new int[] {3, 1, 2}) {
                        int _ = gmp.gmp.setProcs(procs);
                        gmp.run(() -> look("after setProcs"));
                    }
                    gmp.run(() -> {
                        blocks();
                        look("after a system call");
                        isPreempted();
                        look("after a preemption");
                        goesAstray();
                        look("after it ran without a P");
                    });
                }
            } finally {
                stop.set(true);
            }
        }
    }

    /** Until the P that it had is taken. */
    private static void blocks() {
        try {
            int _ = Go.blocking(() -> {
                long pp = M.OLDP.getOpaque(Machine.current().mp); // 0 when it was given away at once.
                int tick = pp == 0 ? 0 : P.SYSCALLTICK.getOpaque(pp);
                while (pp != 0 && PStatus.get(pp) == PStatus.PSYSCALL && P.SYSCALLTICK.getOpaque(pp) == tick) {
                    Thread.onSpinWait();
                }
                return 0;
            });
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** It does not yield by itself: when its P has run another, or it has another P, it was stopped. */
    private static void isPreempted() {
        long first = 0;
        int ran = 0;
        for (boolean same = true; same;) {
            GStack st = GStack.enter();
            long pp = st.machine().pp();
            if (first == 0) {
                first = pp;
                ran = P.SCHEDTICK.get(pp);
            }
            same = pp == first && P.SCHEDTICK.get(pp) == ran;
            GStack.exit(st);
        }
    }

    private static void goesAstray() {
        while (M.P.getOpaque(GStack.current().machine().mp) != 0) {
            Thread.onSpinWait();
        }
    }
}
