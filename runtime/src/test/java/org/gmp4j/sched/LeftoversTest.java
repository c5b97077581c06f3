// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.queue.SudogCache;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.RetiredSched;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** What goroutines and schedulers leave behind when they have ended. */
class LeftoversTest {
    private static final int ROUNDS = 40;

    private static Scheduler closed() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            return gmp.scheduler();
        }
    }

    /**
     * Its struct serves a later scheduler; not that of one that somebody has, as a thread which readied one of its last
     * goroutines.
     */
    @Test
    void theSchedtOfAScheduler() {
        Scheduler had = closed();
        long gone = closed().sched;
        List<Scheduler> later = new ArrayList<>(); // Kept: what is free gets used up, whatever its order.
        do {
            System.gc();
            int _ = RetiredSched.recycle(0);
            later.add(closed());
            assertNotEquals(had.sched, later.getLast().sched);
        } while (later.getLast().sched != gone);
        Reference.reachabilityFence(had);
    }

    /** A P takes a batch of them at a time. */
    @Test
    void sudogsOfAScheduler() {
        Set<Long> taken = new HashSet<>();
        for (int i = 0; i < ROUNDS; i++) {
            try (TestGmp gmp = TestGmp.procs(1)) {
                gmp.run(() -> {
                    GStack st = GStack.enter();
                    long pp = st.machine().pp();
                    long sg = SudogCache.acquire(pp);
                    SudogCache.release(pp, sg);
                    GStack.exit(st);
                    taken.add(sg);
                });
            }
        }
        assertTrue(taken.size() < ROUNDS / 2, taken::toString);
    }

    static final class Program {
        private static final int GOROUTINES = 100;

        private Program() {
        }

        public static void main(String[] args) throws InterruptedException {
            List<WeakReference<Object>> captured = new ArrayList<>();
            try (Gmp gmp = Gmp.builder().procs(1).build()) {
                gmp.run(() -> {
                    Chan<Integer> c = Chan.make();
                    WaitGroup all = new WaitGroup();
                    for (int i = 0; i < GOROUTINES; i++) {
                        Object o = new Object();
                        captured.add(new WeakReference<>(o));
                        all.go(() -> {
                            int _ = c.recv() + o.hashCode(); // It waits: each has a stack of its own.
                        });
                    }
                    for (int i = 0; i < GOROUTINES; i++) {
                        c.send(i);
                    }
                    all.await();
                });
                for (int i = 0; i < 100 && live(captured) > 0; i++) {
                    System.gc();
                    Thread.sleep(1); // The last one may still be about to end.
                }
                System.out.println(live(captured));
            }
        }

        private static long live(List<WeakReference<Object>> refs) {
            return refs.stream().filter(r -> r.get() != null).count();
        }
    }

    /** The stacks are pooled, what their last goroutines ran is not; interpreted, as a stack's first frames are. */
    @Test
    void whatAGoroutineRan() {
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Xint").run();
        assertEquals("0\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
