// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import org.gmp4j.affinity.Topology;
import org.junit.jupiter.api.Test;

class ProcTest {
    private static final long PID = ProcessHandle.current().pid();

    @Test
    void ourselves() throws Exception {
        Proc.Use before = Proc.use(PID);
        assertTrue(before.user() > 0 && before.voluntary() > 0 && before.threads() > 1, before.toString());
        CountDownLatch end = new CountDownLatch(1);
        Thread carrier = Thread.ofPlatform().name("gmp1-M7").start(() -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                return; // Nobody does.
            }
        });
        while (carrier.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        double user = before.user();
        for (long spin = System.nanoTime(); user < before.user() + 0.05 && System.nanoTime() - spin < 10_000_000_000L; ) {
            user = Proc.use(PID).user();
        }
        Proc.Use after = Proc.use(PID);
        Proc.Use since = after.since(before);
        end.countDown();
        carrier.join();
        assertEquals(after.user() - before.user(), since.user());
        assertEquals(after.voluntary() - before.voluntary(), since.voluntary(), after + " " + before);
        assertTrue(after.carriers() >= 1 && after.carriers() < after.threads(), after.toString());
    }

    @Test
    void oneThatHasEnded() throws Exception {
        Process p = new ProcessBuilder("true").start();
        p.waitFor();
        assertEquals("the process " + p.pid() + " ended early",
                assertThrows(IOException.class, () -> Proc.use(p.pid())).getMessage());
    }

    /** Also of a kernel, or a sandbox, that has fewer figures of a CPU, or not all CPUs. */
    @Test
    void busyCpus() throws Exception {
        List<String> stat = List.of("cpu  9 9 9 9 9 9 9 9 9 9", "cpu0 100 20 3 4000 50000 6 7 8 900 900", "cpu1 100 20 3 4000",
                "cpu10 700 0 0 1", "intr 1 2 3", "cpufreq 1", "");
        assertEquals(1.44, Proc.busy(stat, BitSet.valueOf(new long[] {0b01})), 1e-9);
        assertEquals(2.67, Proc.busy(stat, BitSet.valueOf(new long[] {0b11})), 1e-9);
        assertEquals("/proc/stat has no CPU 2",
                assertThrows(IOException.class, () -> Proc.busy(stat, BitSet.valueOf(new long[] {0b101}))).getMessage());
        assertTrue(Proc.busy(Topology.system().allowed().nextSetBit(0)) > 0);
    }

    @Test
    void openFiles() throws Exception {
        assertEquals(20_000, Proc.mostOpenFiles(List.of("Max processes             1   2   processes",
                "Max open files            1024                 20000                files     ")));
        assertEquals(Long.MAX_VALUE, Proc.mostOpenFiles(List.of("Max open files            1024     unlimited     files")));
        assertThrows(IOException.class, () -> Proc.mostOpenFiles(List.of()));
        assertTrue(Proc.mostOpenFiles() > 0);
    }
}
