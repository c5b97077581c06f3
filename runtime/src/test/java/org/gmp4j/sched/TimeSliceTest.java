// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Which time slice a goroutine runs in: one that comes by runnext goes on with the slice of the one that readied it. */
class TimeSliceTest {
    private static final int ROUNDS = 10;
    private static final int MAX_TRIES = 2_000;
    private static final long LONGEST_NANOS = 10_000_000_000L;

    /** A goroutine that inherits a time slice that is over is told as well, before its P is taken. */
    @Test
    void whoInheritsASliceThatIsOver() {
        AtomicInteger inherited = new AtomicInteger();
        AtomicInteger told = new AtomicInteger();
        AtomicInteger tries = new AtomicInteger();
        Runnable nothing = () -> { };
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)))) {
            gmp.run(() -> {
                // Not all: a thread that the JVM, or a busy machine, puts to sleep loses its P untold.
                while (told.get() < ROUNDS && tries.incrementAndGet() < MAX_TRIES) {
                    Chan<Boolean> next = Chan.make();
                    Chan<Boolean> end = Chan.make();
                    Slice[] first = new Slice[1];
                    AtomicBoolean heirRan = new AtomicBoolean();
                    WaitGroup all = new WaitGroup();
                    all.go(() -> {
                        next.recv();
                        heirRan.set(true);
                        if (slice().equals(first[0])) { // The other was not so slow that it lost its P.
                            boolean wasTold = toldToYield();
                            inherited.incrementAndGet();
                            told.addAndGet(wasTold ? 1 : 0);
                        }
                        end.close();
                    });
                    TestGmp.awaitOthers();
                    all.go(() -> {
                        Go.go(nothing); // It waits for its turn in the ring: in the global queue it would run before the heir.
                        next.send(true); // It runs next.
                        first[0] = slice();
                        boolean _ = !heirRan.get() && toldToYield();
                        end.recv(); // Parks, and does not look.
                    });
                    all.await();
                }
            });
        }
        assertEquals(ROUNDS, told.get(), () -> "of " + inherited + " in " + tries);
    }

    /** Or the next to run would be told to yield at once, and wait behind everyone. */
    @Test
    void oneThatWasToldToYieldLeavesNothingToInherit() {
        nobodyInheritsAfter(ran -> {
            GStack st = GStack.enter(); // Sysmon takes no P of a goroutine that is inside the runtime.
            boolean told = !ran.get() && toldToYield();
            GStack.exit(st); // Yields.
            return told;
        });
    }

    @Test
    void norDoesOneThatYieldsByItself() {
        nobodyInheritsAfter(ran -> {
            GStack st = GStack.enter();
            boolean told = !ran.get() && toldToYield();
            if (told) {
                Park.gosched(st);
            }
            GStack.exit(st);
            return told;
        });
    }

    @Test
    void aPThatAnotherMTakesLeavesNothingToInherit() {
        nobodyInheritsAfter(ran -> Go.blocking(() -> {
            while (!ran.get()) {
                Thread.onSpinWait();
            }
            return true;
        }));
    }

    private interface Leave {
        /** Whether it has left as wanted; a thread that the JVM, or a busy machine, puts to sleep loses its P before. */
        boolean leave(AtomicBoolean heirRan) throws Exception;
    }

    /** A goroutine that is readied before {@code leave} must not run in the same slice after it. */
    private static void nobodyInheritsAfter(Leave leave) {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)))) {
            gmp.call(() -> {
                int left = 0;
                for (int i = 0; left < ROUNDS; i++) {
                    assertTrue(i < MAX_TRIES, "left as wanted " + left + " times only");
                    Chan<Boolean> next = Chan.make();
                    Slice[] slices = new Slice[2];
                    AtomicBoolean ran = new AtomicBoolean();
                    WaitGroup heir = new WaitGroup();
                    heir.go(() -> {
                        next.recv();
                        slices[1] = slice();
                        ran.set(true);
                    });
                    TestGmp.awaitOthers();
                    next.send(true);
                    slices[0] = slice();
                    boolean asWanted = leave.leave(ran) && slices[0].pp != 0;
                    heir.await();
                    if (asWanted) {
                        left++;
                        assertTrue(slices[0].tick != slices[1].tick, "round " + i + ": " + slices[0] + " " + slices[1]);
                    }
                }
                return null;
            });
        }
    }

    /** A time slice, on one M. */
    private record Slice(long mp, long pp, int tick) {
    }

    /** Without a P when that is taken meanwhile. */
    private static Slice slice() {
        long mp = Machine.of().mp;
        long pp = M.P.getOpaque(mp);
        int tick = pp == 0 ? 0 : P.SCHEDTICK.getOpaque(pp);
        return new Slice(mp, M.P.getOpaque(mp) == pp ? pp : 0, tick);
    }

    /** Runs on until sysmon ends the slice because another waits. Returns false when sysmon took the P without a request. */
    private static boolean toldToYield() {
        GStack st = GStack.current();
        long end = System.nanoTime() + LONGEST_NANOS;
        while (G.PREEMPT.getOpaque(st.gp) == 0 && M.P.getOpaque(st.machine().mp) != 0 && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        return G.PREEMPT.getOpaque(st.gp) != 0;
    }
}
