// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AffinityTest {
    private final BitSet allowed = Affinity.get(0);

    @AfterEach
    void restore() {
        Affinity.set(0, allowed);
    }

    private static BitSet cpus(int... numbers) {
        BitSet set = new BitSet();
        for (int n : numbers) {
            set.set(n);
        }
        return set;
    }

    /** The first thread sleeps, and its mask is empty, when all CPUs that it was given went offline. */
    @Test
    void thereIsAlwaysOne() {
        assertEquals(allowed, Affinity.orOwn(new BitSet()));
        assertEquals(cpus(70), Affinity.orOwn(cpus(70)));
        assertEquals(Affinity.get(OsThread.getpid()), Affinity.ofProcess());
    }

    @Test
    void aThreadRunsWhereItIsPinned() {
        assertTrue(allowed.cardinality() >= 1);
        for (int cpu = allowed.nextSetBit(0); cpu >= 0; cpu = allowed.nextSetBit(cpu + 1)) {
            Affinity.set(0, cpus(cpu));
            assertEquals(cpu, Affinity.currentCpu());
            assertEquals(cpus(cpu), Affinity.get(0));
        }
        Affinity.set(0, allowed);
        assertEquals(allowed, Affinity.get(0));
    }

    @Test
    void anotherThreadByItsId() throws Exception {
        CompletableFuture<Integer> tid = new CompletableFuture<>();
        CountDownLatch done = new CountDownLatch(1);
        Thread thread = Thread.ofPlatform().start(() -> {
            tid.complete(OsThread.gettid());
            try {
                done.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        BitSet one = cpus(allowed.nextSetBit(0));
        Affinity.set(tid.get(), one);
        assertEquals(one, Affinity.get(tid.get()));
        assertEquals(allowed, Affinity.get(0));
        done.countDown();
        thread.join();
    }

    @Test
    void aCpuThatIsNotThere() {
        for (int cpu : new int[] {1023, 1024, 99_999}) {
            NativeException e = assertThrows(NativeException.class, () -> Affinity.set(0, cpus(cpu)));
            assertEquals("sched_setaffinity(0, {" + cpu + "}) failed: EINVAL (Invalid argument)", e.getMessage());
            assertEquals(Errno.EINVAL, e.errno());
            assertEquals("sched_setaffinity(0, {" + cpu + "})", e.call());
        }
        assertEquals(allowed, Affinity.get(0));
    }

    @Test
    void noCpuAtAll() {
        NativeException e = assertThrows(NativeException.class, () -> Affinity.set(0, new BitSet()));
        assertEquals("sched_setaffinity(0, {}) failed: EINVAL (Invalid argument)", e.getMessage());
    }

    @Test
    void cpusBeyondTheMachineAreLeftOut() {
        BitSet more = (BitSet) allowed.clone();
        more.set(70_000);
        Affinity.set(0, more);
        assertEquals(allowed, Affinity.get(0));
    }

    @Test
    void aThreadThatIsNotThere() {
        // Beyond the largest id that a kernel may hand out (2^22).
        int tid = 1 << 23;
        assertEquals(
                "sched_getaffinity(8388608) failed: ESRCH (No such process)",
                assertThrows(NativeException.class, () -> Affinity.get(tid)).getMessage());
        assertEquals(
                Errno.ESRCH,
                assertThrows(NativeException.class, () -> Affinity.set(tid, allowed)).errno());
    }
}
