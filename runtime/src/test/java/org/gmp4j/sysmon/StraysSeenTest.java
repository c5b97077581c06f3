// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Go;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which goroutines without a P sysmon counts and calls ({@link Strays}). */
class StraysSeenTest {
    private static final int LOOKS_EVERY = 20;
    private static final int LOOKS = 10;
    private static final int NAP_MICROS = 20_000;
    private static final long QUANTUM = 60_000_000_000L;
    private static final long SCAN = 10_000_000;
    private static final long MOST_CALLED = 50_000_000;
    private static final long LONGEST = 4 * SCAN;

    private final AtomicBoolean stop = new AtomicBoolean();
    private final CountDownLatch astray = new CountDownLatch(1);

    @BeforeEach
    void thereArePoints() throws ReflectiveOperationException {
        assertTrue(LoopWithPoints.copy().applyAsLong(1) != 0);
    }

    private static boolean hasP() {
        return Machine.current().pp() != 0;
    }

    /** A scheduler with a goroutine that loses its P as it takes so many steps. */
    private TestGmp with(Runnable step) {
        TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)));
        gmp.go(() -> {
            while (!stop.get()) {
                Go.gosched();
            }
        });
        gmp.go(() -> {
            while (!stop.get()) {
                if (!hasP()) {
                    astray.countDown();
                }
                step.run();
            }
        });
        return gmp;
    }

    /** It would come to no point, and sysmon would wait for it. */
    @Test
    @SuppressWarnings("restricted")
    void aThreadAsleepIsNotCalled() throws InterruptedException {
        Linker linker = Linker.nativeLinker();
        MethodHandle usleep = linker.downcallHandle(linker.defaultLookup().findOrThrow("usleep"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        Runnable step = () -> {
            try {
                int _ = (int) usleep.invokeExact(NAP_MICROS);
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        };
        try (TestGmp gmp = with(step)) {
            try {
                astray.await();
                Strays strays = new Strays(gmp.scheduler(), new ArmPoints());
                for (int i = 0; i < LOOKS; i++) {
                    strays.look(System.nanoTime());
                    assertFalse(strays.calling());
                    Thread.sleep(LOOKS_EVERY);
                }
            } finally {
                stop.set(true);
            }
        }
    }

    /** It is called after 10 ms, then after twice as long each time, and for 50 ms at most. The looks are the test's. */
    @Test
    void calledEverMoreRarely() throws InterruptedException {
        assumeTrue(Gate.possible());
        try (Unwatched gmp = new Unwatched(QUANTUM)) {
            AtomicLong mp = new AtomicLong();
            Newproc.newproc(gmp.s, () -> {
                mp.set(Machine.current().mp);
                while (!stop.get()) {
                    Thread.onSpinWait();
                }
            });
            try {
                while (mp.get() == 0) {
                    Thread.onSpinWait();
                }
                Processor pr = gmp.s.procs()[0];
                Machine m = gmp.s.machine(mp.get());
                Takeover takeover = new Takeover(gmp.s, gmp.sysmon().stalls);
                while (!m.astray()) {
                    boolean _ = takeover.fromThread(pr, m.mp, P.SCHEDTICK.getOpaque(pr.pp), true);
                }
                ArmPoints points = new ArmPoints();
                Strays strays = new Strays(gmp.s, points);
                long now = System.nanoTime();
                strays.look(now);
                for (long gap = SCAN; gap <= LONGEST; gap *= 2) {
                    for (long passed = SCAN; passed <= gap; passed += SCAN) {
                        assertFalse(strays.calling(), passed + " of " + gap);
                        now += SCAN;
                        letRun(m);
                        strays.look(now);
                    }
                    assertTrue(strays.calling(), "after " + gap);
                    now += MOST_CALLED;
                    letRun(m);
                    strays.look(now);
                }
                assertFalse(strays.calling());
                points.close();
            } finally {
                stop.set(true);
            }
        }
    }

    /** More than the part of a CPU that it needs to be called. */
    private static void letRun(Machine m) {
        long until = ThreadState.cpuNanos(m) + MOST_CALLED / 2;
        while (ThreadState.cpuNanos(m) < until) {
            Thread.onSpinWait();
        }
    }

    /** Its thread does not wait until others need no CPU, because it may hold a lock that they need. */
    private static void assertTheUsualPolicy(Scheduler s) {
        for (Machine m : s.machines()) {
            if (m.astray()) {
                assertEquals(OsThread.scheduler(0), OsThread.scheduler((int) M.PROCID.get(m.mp)));
            }
        }
    }

    @Test
    void aThreadThatRunsIsCalled() throws InterruptedException {
        try (TestGmp gmp = with(Thread::onSpinWait)) {
            try {
                astray.await();
                ArmPoints points = new ArmPoints();
                Strays strays = new Strays(gmp.scheduler(), points);
                boolean called = false;
                while (!called) {
                    strays.look(System.nanoTime());
                    called |= strays.calling();
                    Thread.sleep(1); // It needs a quarter of a CPU.
                }
                assertTheUsualPolicy(gmp.scheduler());
                points.close();
            } finally {
                stop.set(true);
            }
        }
    }
}
