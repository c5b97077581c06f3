// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.testing.NoHalt;
import org.gmp4j.testing.Raw;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoHalt.class)
class GStatusTest {
    private static final int[] ALL = {GStatus.GIDLE, GStatus.GRUNNABLE, GStatus.GRUNNING, GStatus.GSYSCALL,
        GStatus.GWAITING, GStatus.GDEAD, GStatus.GCOPYSTACK, GStatus.GPREEMPTED};

    private final long gp = Mem.alloc(Struct.G, 1);

    @AfterEach
    void recycle() {
        Mem.recycle(Struct.G, gp);
    }

    private void be(int status) {
        Raw.setInt(Struct.G, "atomicstatus", gp, status);
    }

    /** The table in the class comment, edge by edge; every other one is a throw. */
    @Test
    void edges() {
        Map<Integer, Set<Integer>> table = new TreeMap<>(Map.of(
                GStatus.GIDLE, Set.of(GStatus.GDEAD),
                GStatus.GDEAD, Set.of(GStatus.GRUNNABLE),
                GStatus.GRUNNABLE, Set.of(GStatus.GRUNNING),
                GStatus.GRUNNING, Set.of(GStatus.GWAITING, GStatus.GRUNNABLE, GStatus.GDEAD, GStatus.GSYSCALL,
                        GStatus.GPREEMPTED),
                GStatus.GSYSCALL, Set.of(GStatus.GRUNNING, GStatus.GRUNNABLE, GStatus.GWAITING, GStatus.GDEAD),
                GStatus.GPREEMPTED, Set.of(GStatus.GRUNNABLE, GStatus.GWAITING),
                GStatus.GWAITING, Set.of(GStatus.GRUNNABLE, GStatus.GRUNNING, GStatus.GDEAD),
                GStatus.GCOPYSTACK, Set.of()));
        for (int from : ALL) {
            for (int to : ALL) {
                boolean legal = table.get(from).contains(to);
                assertEquals(legal, GStatus.legal(from, to), GStatus.name(from) + " -> " + GStatus.name(to));
                be(from);
                if (legal) {
                    GStatus.casgstatus(gp, from, to);
                    assertEquals(to, GStatus.readgstatus(gp));
                } else {
                    assertThrows(Throw.class, () -> GStatus.casgstatus(gp, from, to));
                    assertEquals(from, GStatus.readgstatus(gp));
                }
            }
        }
        assertFalse(GStatus.legal(-1, 0));
        assertFalse(GStatus.legal(1, 99));
    }

    @Test
    void aThirdStateIsAThrow() {
        be(GStatus.GWAITING);
        G.GOID.set(gp, 17);
        Throw t = assertThrows(Throw.class, () -> GStatus.casgstatus(gp, GStatus.GRUNNABLE, GStatus.GRUNNING));
        assertEquals("casgstatus: bad transition of goroutine 17: wanted _Grunnable -> _Grunning, found _Gwaiting",
                t.getMessage());
        assertFalse(GStatus.trycasgstatus(gp, GStatus.GRUNNABLE, GStatus.GRUNNING));
        assertTrue(GStatus.trycasgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE));
    }

    /** G6. */
    @Test
    void theScanBitIsOneHoldersOnly() {
        be(GStatus.GWAITING);
        assertFalse(GStatus.castogscanstatus(gp, GStatus.GRUNNABLE));
        assertTrue(GStatus.castogscanstatus(gp, GStatus.GWAITING));
        assertFalse(GStatus.castogscanstatus(gp, GStatus.GWAITING));
        assertEquals("_Gwaiting|_Gscan", GStatus.name(GStatus.readgstatus(gp)));
        GStatus.casfromgscanstatus(gp, GStatus.GWAITING);
        assertThrows(Throw.class, () -> GStatus.casfromgscanstatus(gp, GStatus.GWAITING));
    }

    /** A change of the state waits until the scanner has cleared its bit. */
    @Test
    void aHeldGIsAwaited() throws InterruptedException {
        be(GStatus.GWAITING);
        assertTrue(GStatus.castogscanstatus(gp, GStatus.GWAITING));
        AtomicBoolean begun = new AtomicBoolean();
        Threads runner = new Threads().add("runner", () -> {
            begun.set(true);
            GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
        }).start();
        while (!begun.get()) {
            Thread.onSpinWait();
        }
        Thread.sleep(10); // The runner tries many times meanwhile.
        GStatus.casfromgscanstatus(gp, GStatus.GWAITING);
        runner.join();
        assertEquals(GStatus.GRUNNABLE, GStatus.readgstatus(gp));
    }

    /** Transitions wait while the scan bit holds the G, and none is lost. */
    @Stress
    void scannersHoldTheG() throws InterruptedException {
        be(GStatus.GWAITING);
        AtomicInteger running = new AtomicInteger(3);
        new Threads().add("runner", () -> {
            for (int i = 0; i < 100_000; i++) {
                GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
                assertTrue(GStatus.trycasgstatus(gp, GStatus.GRUNNABLE, GStatus.GRUNNING));
                GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GWAITING);
            }
            running.set(0);
        }).add(2, "scanner", () -> {
            while (running.get() > 0) {
                if (GStatus.castogscanstatus(gp, GStatus.GWAITING)) {
                    assertEquals(GStatus.GWAITING | GStatus.GSCAN, GStatus.readgstatus(gp));
                    GStatus.casfromgscanstatus(gp, GStatus.GWAITING);
                }
            }
        }).run();
    }
}
