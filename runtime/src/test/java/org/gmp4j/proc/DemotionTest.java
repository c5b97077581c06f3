package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Go;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.struct.M;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A goroutine that runs on without its P does so at the lowest priority, and at its own again when it has a P. */
class DemotionTest {
    private static final int WORKERS = 4;
    private static final int ROUNDS = 400;
    private static final long PATIENCE = 20_000_000_000L;

    /** Raising a priority again takes a privilege or a limit; without it the runtime leaves them alone. */
    @BeforeAll
    static void permitted() throws InterruptedException {
        boolean[] may = new boolean[1];
        new Threads().add("may", () -> {
            try {
                OsThread.setScheduler(0, OsThread.SCHED_IDLE, 0);
                OsThread.setScheduler(0, OsThread.SCHED_OTHER, 0);
                may[0] = true;
            } catch (NativeException e) {
                may[0] = false;
            }
        }).run();
        assumeTrue(may[0]);
    }

    private static TestGmp shortQuantum() {
        return TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)));
    }

    /** Runs body as a goroutine while another wants the P. */
    private static void besideAnother(TestGmp gmp, Runnable body) {
        AtomicBoolean done = new AtomicBoolean();
        gmp.go(() -> {
            while (!done.get()) {
                Go.gosched();
            }
        });
        try {
            gmp.run(body);
        } finally {
            done.set(true);
        }
    }

    /**
     * On a goroutine: the P is taken after the quantum. The flag comes after the priority. If the JVM put the thread
     * to sleep (safepoint), the P was taken for that, and without demotion: then it gets a P and begins again.
     */
    private static void awaitDemotion() {
        for (;;) {
            long mp = Machine.of().mp;
            long end = System.nanoTime() + 100_000_000;
            while (System.nanoTime() < end) {
                if (M.demotedOpaque(mp) != 0) {
                    return;
                }
                Thread.onSpinWait();
            }
            GStack.exit(GStack.enter());
        }
    }

    @Test
    void whileItHasNoP() {
        try (TestGmp gmp = shortQuantum()) {
            besideAnother(gmp, () -> {
                for (int i = 0; i < 5; i++) {
                    awaitDemotion();
                    back();
                }
            });
        }
    }

    /** A thread that somebody gave a policy of its own keeps it. */
    @Test
    void notAThreadWithAPolicyOfItsOwn() {
        try (TestGmp gmp = shortQuantum()) {
            besideAnother(gmp, () -> {
                Scheduler s = GStack.current().s;
                Go.lockOSThread();
                OsThread.setScheduler(0, OsThread.SCHED_BATCH, 0);
                for (int i = 0; i < 3; i++) {
                    long taken = s.signals().taken();
                    while (s.signals().taken() == taken) {
                        Thread.onSpinWait();
                    }
                    assertEquals(OsThread.SCHED_BATCH, OsThread.scheduler(0), "without a P");
                    GStack.exit(GStack.enter());
                }
                assertEquals(OsThread.SCHED_BATCH, OsThread.scheduler(0));
            });
        }
    }

    /** Without a P it is taken off its thread by the JDK, which then serves others. */
    @Test
    void notWhoRunsOnTheThreadNext() {
        try (TestGmp gmp = shortQuantum()) {
            besideAnother(gmp, () -> {
                for (int i = 0; i < 5; i++) {
                    awaitDemotion();
                    Thread.yield();
                }
            });
            normal(gmp);
        }
    }

    /** They call the runtime at about the moment when sysmon takes the P; no thread is left with the low priority. */
    @Stress
    void returnsRaceWithDemotion() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofNanos(200_000)))) {
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                for (int i = 0; i < WORKERS; i++) {
                    int id = i;
                    all.go(() -> {
                        for (int k = 0; k < ROUNDS; k++) {
                            spin(200_000 + (k * 7 + id) % 40 * 10_000);
                            back();
                            spin(130_000); // Its slice is new: it keeps its P.
                            back();
                        }
                    });
                }
                all.await();
            });
            normal(gmp);
            gmp.check();
        }
    }

    private static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    /** With a P, a goroutine is at the normal priority, or sysmon was too late and is about to undo it. */
    private static void back() {
        GStack st = GStack.enter();
        long end = System.nanoTime() + PATIENCE;
        while (OsThread.scheduler(0) != OsThread.SCHED_OTHER) {
            assertTrue(System.nanoTime() < end, "still at the lowest priority");
            Thread.onSpinWait();
        }
        GStack.exit(st);
    }

    /** All threads come back to the normal priority; one that does not is waited for in vain. */
    private static void normal(TestGmp gmp) {
        for (Machine m : gmp.scheduler().machines()) {
            while (M.demotedOpaque(m.mp) != 0 || OsThread.scheduler((int) M.procid(m.mp)) != OsThread.SCHED_OTHER) {
                Thread.onSpinWait();
            }
        }
    }
}
