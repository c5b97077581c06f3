// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Go's {@code runtime/proc_test.go}, as far as it needs no preemption. */
@Tag("ring")
class ProcTest {
    /** Go: {@code TestStopTheWorldDeadlock}: the world is stopped again and again while goroutines come and go. */
    @Stress
    void stopTheWorldDeadlock() {
        try (TestGmp gmp = TestGmp.procs(3)) {
            gmp.run(() -> {
                AtomicBoolean stop = new AtomicBoolean();
                Chan<Boolean> compl = Chan.make(2);
                Go.go(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        Go.gomaxprocs(3);
                        Go.gosched();
                    }
                    compl.send(true);
                });
                Go.go(() -> {
                    Chan<Boolean> c = Chan.make();
                    while (!stop.get()) {
                        Go.go(() -> c.send(true));
                        c.recv();
                    }
                    compl.send(true);
                });
                compl.recv();
                stop.set(true);
                compl.recv();
            });
        }
    }

    /** Go: {@code TestYieldProgress}: a goroutine that yields in a loop lets others run. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void yieldProgress(int procs) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(() -> {
                Chan<Boolean> c = Chan.make();
                Chan<Boolean> cack = Chan.make();
                Go.go(() -> {
                    while (c.tryRecv() == null) {
                        for (int i = 0; i < 10; i++) {
                            Go.gosched();
                        }
                    }
                    cack.send(true);
                });
                for (int i = 0; i < 100; i++) {
                    Go.gosched();
                }
                c.send(true);
                cack.recv();
            });
        }
    }

    /**
     * Go: {@code TestGoroutineParallelism}: as many goroutines as Ps spin in lockstep, none yields. One runnable goroutine
     * that is left lying while a P is idle, and they spin for ever.
     */
    @Stress
    void goroutineParallelism() {
        lockstep(2, 150, false);
    }

    /** The same with more Ps than CPUs. */
    @Stress
    void goroutineParallelismOverloaded() {
        lockstep(4, 25, false);
    }

    /** Go: {@code TestGoroutineParallelism2}: the same, started while another goroutine keeps its P awake. */
    @Stress
    void goroutineParallelism2() {
        lockstep(2, 150, true);
    }

    /** With a long quantum: sysmon is not to mend what wakep missed. */
    private static void lockstep(int procs, int rounds, boolean load) {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(procs).quantum(Duration.ofMinutes(1)))) {
            for (int round = 0; round < rounds; round++) {
                gmp.run(() -> {
                    Chan<Boolean> done = Chan.make();
                    AtomicInteger x = new AtomicInteger();
                    if (load) {
                        // A goroutine ends on another P, whose M then looks for work while ours is made.
                        Chan<Boolean> c = Chan.make();
                        Go.go(() -> c.send(true));
                        c.recv();
                    }
                    for (int p = 0; p < procs; p++) {
                        int id = p;
                        Go.go(() -> {
                            for (int i = 0; i < 3; i++) {
                                int expected = procs * i + id;
                                while (x.get() != expected) {
                                    Thread.onSpinWait();
                                }
                                x.set(expected + 1);
                            }
                            done.send(true);
                        });
                    }
                    for (int p = 0; p < procs; p++) {
                        done.recv();
                    }
                });
            }
        }
    }

    /** Go: {@code TestNumGoroutine}: the number is the number of goroutines in the dump. */
    @Test
    void numGoroutine() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                Chan<Boolean> c = Chan.make();
                for (int i = 1; i < 20; i++) {
                    Go.go(c::recv);
                    TestGmp.awaitOthers();
                    assertEquals(i + 1, Go.numGoroutine());
                    assertEquals(i + 1, ("\n" + gmp.gmp.dump()).split("\ngoroutine ").length - 1);
                }
                c.close();
            });
            while (gmp.gmp.numGoroutine() > 0) {
                Thread.onSpinWait();
            }
        }
    }

    /** Go: {@code TestBigGOMAXPROCS}: 1,024 Ps. */
    @Test
    void bigGOMAXPROCS() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1_024)) {
            AtomicInteger ran = new AtomicInteger();
            gmp.run(() -> {
                assertEquals(1_024, Go.gomaxprocs(0));
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 2_000; i++) {
                    wg.go(() -> {
                        Go.gosched();
                        ran.incrementAndGet();
                    });
                }
                wg.await();
                assertEquals(1_024, Go.gomaxprocs(3));
                assertEquals(3, Go.gomaxprocs(1_025));
            });
            assertEquals(2_000, ran.get());
            gmp.check();
        }
    }

    /** On one P the newest goroutine runs first, then the others in order. */
    @Test
    void newestFirst() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                StringBuilder order = new StringBuilder();
                for (char c : "abc".toCharArray()) {
                    Go.go(() -> order.append(c));
                }
                TestGmp.awaitOthers();
                assertEquals("cab", order.toString());
            });
        }
    }

    /** 1 in 61: what is in the common queue is not starved by a P that always has local work. */
    @Test
    void globalQueueIsNotStarved() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) { // Or its turn would be due after eight.
            AtomicBoolean stop = new AtomicBoolean();
            AtomicLong n = new AtomicLong();
            gmp.run(() -> Go.go(() -> breed(stop, n)));
            gmp.run(() -> stop.set(true)); // From outside: through the common queue.
            assertTrue(n.get() > 0);
        }
    }

    private static void breed(AtomicBoolean stop, AtomicLong n) {
        n.incrementAndGet();
        if (!stop.get()) {
            Go.go(() -> breed(stop, n));
            for (int i = 0; i < 10; i++) {
                Go.go(() -> { }); // Into runnext, and the last out of it into the ring.
            }
        }
    }

    /** Goids count from 1 and are never used twice, whichever thread starts the goroutine. */
    @Test
    void goids() throws Exception {
        try (TestGmp gmp = TestGmp.procs(4)) {
            assertEquals(1, gmp.call(Go::goid));
            java.util.Set<Long> seen = java.util.concurrent.ConcurrentHashMap.newKeySet();
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 1_000; i++) {
                    wg.go(() -> {
                        assertTrue(seen.add(Go.goid()));
                        wg.go(() -> assertTrue(seen.add(Go.goid())));
                    });
                }
                wg.await();
            });
            for (int i = 0; i < 100; i++) {
                assertTrue(seen.add(gmp.call(Go::goid)));
            }
            assertEquals(2_100, seen.size());
        }
    }
}
