// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** Several schedulers in one JVM, one after the other and at once. */
class SchedulersTest {
    private static void use(TestGmp gmp) {
        gmp.run(() -> {
            WaitGroup wg = new WaitGroup();
            Chan<Integer> c = Chan.make();
            for (int k = 0; k < 10; k++) {
                wg.go(() -> c.send(1));
                wg.go(c::recv);
            }
            Go.gomaxprocs(3);
            wg.await();
        });
    }

    /** 200 are made and closed: threads end, and structs serve the next. */
    @Test
    void nothingLeaks() throws IOException {
        for (int i = 0; i < 20; i++) {
            try (TestGmp gmp = TestGmp.procs(2)) {
                use(gmp);
            }
        }
        long threads = ours();
        long mappings = lines(Path.of("/proc/self/maps"));
        for (int i = 0; i < 200; i++) {
            try (TestGmp gmp = TestGmp.procs(1 + i % 4)) {
                use(gmp);
            }
        }
        assertTrue(ours() <= threads, "threads are left");
        // The JVM itself maps now and then; one leaked mapping a scheduler would be 200.
        assertTrue(lines(Path.of("/proc/self/maps")) < mappings + 100, "mappings are left");
    }

    private static long ours() {
        return Thread.getAllStackTraces().keySet().stream().filter(t -> t.getName().startsWith("gmp")).count();
    }

    private static long lines(Path p) throws IOException {
        try (Stream<String> lines = Files.lines(p)) {
            return lines.count();
        }
    }

    /** Goroutines of three schedulers pass a value round; each stays with its own. */
    @Stress
    void channelsBetween() throws InterruptedException {
        try (TestGmp a = TestGmp.procs(1); TestGmp b = TestGmp.procs(2); TestGmp c = TestGmp.procs(2)) {
            List<TestGmp> all = List.of(a, b, c);
            List<Scheduler> homes = all.stream().map(TestGmp::scheduler).toList();
            List<Chan<Integer>> chans = Stream.generate(Chan::<Integer>make).limit(3).toList();
            for (int i = 0; i < 3; i++) {
                Chan<Integer> in = chans.get(i);
                Chan<Integer> out = chans.get((i + 1) % 3);
                Scheduler home = homes.get(i);
                all.get(i).go(() -> {
                    for (int v : in) {
                        assertTrue(org.gmp4j.sched.GStack.current().scheduler() == home);
                        if (v == 3_000) {
                            out.close();
                            return;
                        }
                        out.send(v + 1);
                    }
                    if (!in.equals(chans.get(0))) {
                        out.close();
                    }
                });
            }
            chans.get(0).send(0);
        } catch (IllegalStateException e) {
            throw new AssertionError(e);
        }
    }

    /** Schedulers come and go in several threads at once, each used and closed. */
    @Stress
    void manyAtOnce() throws InterruptedException {
        new Threads().add(4, "owner", () -> {
            for (int i = 0; i < 40; i++) {
                try (TestGmp gmp = TestGmp.procs(1 + i % 3)) {
                    use(gmp);
                    gmp.check();
                }
            }
        }).run();
    }

    /** The goroutines that end last were woken from outside: by a thread, by the JDK's timer, by another scheduler. */
    @Stress
    void lateWakersAndClose() throws InterruptedException {
        try (TestGmp other = TestGmp.procs(1)) {
            for (int i = 0; i < 300; i++) {
                TestGmp gmp = TestGmp.procs(2);
                Chan<Integer> c = Chan.make();
                for (int k = 0; k < 2; k++) {
                    gmp.go(c::recv);
                    gmp.go(c::recv);
                    gmp.go(() -> {
                        try {
                            Thread.sleep(0, 100_000);
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    });
                    other.go(() -> c.send(1));
                }
                Threads waker = new Threads().add("waker", () -> {
                    c.send(2);
                    c.send(3);
                }).start();
                gmp.close();
                waker.join();
            }
        }
    }

    /** Goroutines by the million leave no more slots behind than lived at once. */
    @Stress
    void spawnsLeaveNoGrowth() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Scheduler s = gmp.scheduler();
            long[] slots = new long[2];
            for (int round = 0; round < 2; round++) {
                gmp.run(() -> {
                    for (int i = 0; i < 1_000; i++) {
                        WaitGroup wg = new WaitGroup();
                        for (int k = 0; k < 500; k++) {
                            wg.add(1);
                            Go.go(wg::done);
                        }
                        wg.await();
                    }
                });
                long[] n = new long[1];
                s.slots.forEach(gp -> n[0]++);
                slots[round] = n[0];
            }
            assertTrue(slots[1] <= 2_000, slots[1] + " slots for 502 goroutines at a time");
            assertEquals(slots[0], slots[1], 1_000);
            gmp.check();
        }
    }
}
