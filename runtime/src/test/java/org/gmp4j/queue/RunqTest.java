// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@link Runq}: Go's tests of the local queue, and the owner against thieves. */
@Tag("ring")
class RunqTest {
    private static final int ROUNDS = 20;
    private static final int GS = 20_000;
    private static final int THIEVES = 3;
    private static final int EMPTY_ROUNDS = 400_000;

    private final FakeSched f = new FakeSched(1 + THIEVES);

    @AfterEach
    void close() {
        f.close();
    }

    /** Go: {@code TestSchedLocalQueue}: any number of Gs put and got back in order. */
    @Test
    void schedLocalQueue() {
        long pp = f.ps[0];
        long[] gs = new long[Runq.LEN];
        for (int i = 0; i < gs.length; i++) {
            gs[i] = f.runnable();
        }
        assertEquals(0, Runq.runqget(pp));
        for (int i = 0; i < gs.length; i++) {
            for (int j = 0; j < i; j++) {
                Runq.runqput(f.sched, pp, gs[j], false);
            }
            for (int j = 0; j < i; j++) {
                assertEquals(gs[j], Runq.runqget(pp));
            }
            assertEquals(0, Runq.runqget(pp));
        }
    }

    /** Go: {@code TestSchedLocalQueueSteal}: each G once on one of the two Ps, and the difference is one steal. */
    @Test
    void schedLocalQueueSteal() {
        long p1 = f.ps[0];
        long p2 = f.ps[1];
        long[] gs = new long[Runq.LEN];
        for (int i = 0; i < gs.length; i++) {
            gs[i] = f.runnable();
        }
        for (int i = 0; i < Runq.LEN; i++) {
            AtomicIntegerArray seen = new AtomicIntegerArray(Runq.LEN);
            for (int j = 0; j < i; j++) {
                Runq.runqput(f.sched, p1, gs[j], false);
            }
            long gp = Runq.runqsteal(p2, p1, true, 0);
            int s = 0;
            if (gp != 0) {
                s++;
                seen.incrementAndGet(f.name(gp));
            }
            for (gp = Runq.runqget(p2); gp != 0; gp = Runq.runqget(p2)) {
                s++;
                seen.incrementAndGet(f.name(gp));
            }
            for (gp = Runq.runqget(p1); gp != 0; gp = Runq.runqget(p1)) {
                seen.incrementAndGet(f.name(gp));
            }
            for (int j = 0; j < i; j++) {
                assertEquals(1, seen.get(j));
            }
            assertTrue(s == i / 2 || s == i / 2 + 1, s + " of " + i);
        }
    }

    /** Go: {@code TestSchedLocalQueueEmpty}: while a G moves from runnext to the ring the queue never looks empty. */
    @Stress
    void schedLocalQueueEmpty() throws InterruptedException {
        long pp = f.ps[0];
        long g0 = f.runnable();
        long g1 = f.runnable();
        AtomicInteger phase = new AtomicInteger(); // Odd: there is something in the queue.
        new Threads().add("owner", () -> {
            for (int round = 0; round < EMPTY_ROUNDS; round++) {
                Runq.runqput(f.sched, pp, g0, true);
                phase.incrementAndGet();
                Runq.runqput(f.sched, pp, g1, true);
                assertEquals(g1 | Runq.INHERIT, Runq.runqget(pp)); // From here on only the ring holds one.
                for (int i = 0; i < 10; i++) {
                    Thread.onSpinWait();
                }
                phase.incrementAndGet();
                assertEquals(g0, Runq.runqget(pp));
            }
            phase.set(-1);
        }).add("looker", () -> {
            for (int n = phase.get(); n >= 0; n = phase.get()) {
                boolean empty = Runq.runqempty(pp);
                assertFalse((n & 1) == 1 && empty && phase.get() == n, "looked empty with a G in it");
            }
        }).run();
    }

    /** Every G is taken once, by its P or by a thief, while the ring wraps and overflows. */
    @Stress
    void everyGOnce() throws InterruptedException {
        long[] gs = new long[GS];
        for (int i = 0; i < GS; i++) {
            gs[i] = f.runnable();
        }
        for (int round = 0; round < ROUNDS; round++) {
            AtomicIntegerArray taken = new AtomicIntegerArray(GS);
            AtomicBoolean done = new AtomicBoolean();
            Threads threads = new Threads().add("owner", () -> {
                try {
                    own(gs, taken);
                } finally {
                    done.set(true);
                }
            });
            for (int t = 1; t <= THIEVES; t++) {
                int id = t;
                threads.add("thief" + t, () -> {
                    boolean last;
                    do {
                        last = done.get();
                        count(taken, Runq.runqsteal(f.ps[id], f.ps[0], id != 1, id == 2 ? 1_000 : 0));
                        int other = 1 + id % THIEVES;
                        if (Runq.size(f.ps[id]) == 0 && other != id) {
                            count(taken, Runq.runqsteal(f.ps[id], f.ps[other], true, 0));
                        }
                        while (drain(taken, f.ps[id])) {
                            // Its own.
                        }
                    } while (!last);
                });
            }
            threads.run();
            global(taken);
            for (int i = 0; i < GS; i++) {
                assertEquals(1, taken.get(i), "G " + i + " of round " + round);
            }
        }
    }

    private void own(long[] gs, AtomicIntegerArray taken) {
        long pp = f.ps[0];
        for (int i = 0; i < GS; i++) {
            Runq.runqput(f.sched, pp, gs[i], i % 3 != 0);
            if (i % 5 < 2) {
                count(taken, Runq.runqget(pp));
            }
            if (i % 1_000 == 0) {
                global(taken);
            }
        }
        while (drain(taken, pp)) {
            // Until it is empty.
        }
    }

    private boolean drain(AtomicIntegerArray taken, long pp) {
        long gp = Runq.runqget(pp);
        count(taken, gp);
        return gp != 0;
    }

    private void global(AtomicIntegerArray taken) {
        SchedLock.lock(f.sched);
        long gp = GlobalRunq.pop(f.sched);
        SchedLock.unlock(f.sched);
        while (gp != 0) {
            count(taken, gp);
            SchedLock.lock(f.sched);
            gp = GlobalRunq.pop(f.sched);
            SchedLock.unlock(f.sched);
        }
    }

    private void count(AtomicIntegerArray taken, long gp) {
        if (gp != 0) {
            assertEquals(1, taken.incrementAndGet(f.name(gp)), "taken twice");
        }
    }
}
