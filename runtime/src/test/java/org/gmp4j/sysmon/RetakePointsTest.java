// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.gmp4j.sysmon.RetakeScans.QUANTUM;
import static org.gmp4j.sysmon.RetakeScans.retake;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongUnaryOperator;

import org.gmp4j.Go;
import org.gmp4j.agent.Points;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Machines;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Retake} and {@link ArmPoints}: goroutines that come to no preemption point, and goroutines that need no points. */
class RetakePointsTest {
    private static final long PATIENCE = 10_000_000_000L;
    private static final long SOON = 50_000;
    private static final long LOST = -1;

    private static volatile int sink;

    /** Points are armed for a thread that comes to none, the next time for less time: other loops seldom call the hook. */
    @Test
    void patienceEnds() throws ReflectiveOperationException {
        long mp = Mem.alloc(Struct.M, 1);
        try (TestGmp gmp = TestGmp.procs(1)) {
            Machine lost = Machines.of(gmp.scheduler(), mp);
            M.PROCID.set(mp, 1 << 23);
            ArmPoints points = new ArmPoints();
            assertTrue(LoopWithPoints.copy().applyAsLong(1) != 0);
            assertTrue(points.overran(lost, 1));
            assertEquals(ArmPoints.PATIENCE + 2, inVain(), ArmPoints.PATIENCE / 10);
            assertFalse(points.overran(lost, 1));
            assertEquals(ArmPoints.LATER_PATIENCE, inVain(), ArmPoints.LATER_PATIENCE / 10);
            points.looked(false, System.nanoTime());
        } finally {
            Mem.recycle(Struct.M, mp);
        }
    }

    /** How often a loop that no thread wants to stop calls the hook. */
    private static long inVain() throws ReflectiveOperationException {
        LongUnaryOperator loop = LoopWithPoints.copy();
        long before = Points.counters().reached();
        assertTrue(loop.applyAsLong(ArmPoints.PATIENCE * 2) != 0);
        return Points.counters().reached() - before;
    }

    /** Where the CPU time of a thread cannot be read, sysmon takes the P without it. */
    @Test
    void noClock() throws ReflectiveOperationException {
        LongUnaryOperator loop = LoopWithPoints.copy();
        long mp = Mem.alloc(Struct.M, 1);
        try (TestGmp gmp = TestGmp.procs(1)) {
            Machine unread = Machines.of(gmp.scheduler(), mp);
            M.PROCID.set(mp, 1 << 23); // No thread's.
            ArmPoints points = new ArmPoints();
            assertTrue(points.overran(unread, 1), "asked to yield first");
            assertFalse(points.overran(unread, 1));
            points.looked(false, System.nanoTime());
        } finally {
            Mem.recycle(Struct.M, mp);
        }
    }

    /** A goroutine that ran alone for long is asked to yield when work comes, and is scanned again as soon as any other. */
    @Test
    void lookedAtCloselyOnceTold() throws ReflectiveOperationException, InterruptedException {
        long until = untilOverOnceTold(false);
        assertTrue(until <= SOON, "the next look is " + until + " ns off");
    }

    /** A goroutine that needed no nudge the last time is scanned again when its next slice may be over. */
    @Test
    void whoCameToAPointIsTrusted() throws ReflectiveOperationException, InterruptedException {
        long until = untilOverOnceTold(true);
        assertTrue(until > SOON && until <= 5 * SOON, "the next look is " + until + " ns off");
    }

    /** Returns how soon sysmon scans a goroutine again that it has asked to yield; {@code trusted}: the last time it yielded by itself. */
    private static long untilOverOnceTold(boolean trusted) throws ReflectiveOperationException, InterruptedException {
        long until = tryOnceTold(trusted);
        while (until == LOST) {
            until = tryOnceTold(trusted);
        }
        return until;
    }

    /** Returns {@link #LOST} when the two scans, which follow each other at once, took the thread for one that sleeps. */
    private static long tryOnceTold(boolean trusted) throws ReflectiveOperationException, InterruptedException {
        LongUnaryOperator loop = LoopWithPoints.copy();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            Scheduler s = gmp.scheduler();
            long pp = s.procs()[0].pp;
            Retake retake = retake(s);
            AtomicBoolean end = new AtomicBoolean();
            CountDownLatch runs = new CountDownLatch(1);
            byte[] bytes = new byte[1 << 20];
            gmp.go(() -> {
                runs.countDown();
                while (!end.get()) {
                    // The JDK's code has no points: told to yield, it runs on a while. And it makes nothing, so that no collection
                    // has its thread sleep.
                    sink = Arrays.hashCode(bytes);
                    if (trusted) {
                        Go.gosched();
                    }
                }
            });
            runs.await();
            long until = Long.MAX_VALUE;
            for (long limit = System.nanoTime() + PATIENCE; until > 5 * SOON && System.nanoTime() < limit;) {
                gmp.go(() -> { // Work that waits: that of the last try may have been run.
                });
                boolean _ = retake.look(System.nanoTime()); // The slice began by now, if sysmon has not seen it.
                long mp = P.M.getOpaque(pp);
                if (mp == 0) {
                    until = LOST; // It is a stray, and the P is idle.
                    break;
                }
                WatchedM w = WatchedM.of(s.machine(mp));
                w.awaited = -1;
                long now = System.nanoTime() + QUANTUM.multipliedBy(2).toNanos();
                var _ = retake.look(now);
                if (w.awaited != -1 && w.overrun.prompt() == trusted) { // Else it was inside the runtime, or has just left its slice.
                    until = retake.seen.untilOver(now);
                }
            }
            end.set(true);
            retake.close();
            assertTrue(Points.any(), () -> "no points of " + loop);
            return until;
        }
    }

    /** Where C2 leaves polls out of loops a nudge comes too late: their points are armed. */
    @ParameterizedTest
    @ValueSource(strings = {"Serial", "Parallel", "G1"})
    void loopsWithoutPolls(String collector) {
        Result r = new ChildJvm(UnpolledLoopProgram.class).with("-XX:+Use" + collector + "GC", "-XX:TieredStopAtLevel=4").run();
        assertEquals("in time\n", r.out(), r::toString);
    }

    /** A goroutine inside the runtime is asked to yield and not brought to a point, since it sees the request as it leaves. */
    @Test
    void insideTheRuntimeItNeedsNoPoint() throws ReflectiveOperationException, InterruptedException {
        assertTrue(LoopWithPoints.copy().applyAsLong(1) != 0);
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            Retake retake = retake(gmp.s, new Stalls(gmp.s.config.debug()));
            gmp.run(() -> {
                Go.go(() -> { });
                boolean _ = retake.look(System.nanoTime());
                GStack st = GStack.enter();
                long now = System.nanoTime() + 2 * QUANTUM.toNanos();
                var _ = retake.look(now);
                assertEquals(SOON, retake.seen.untilOver(now));
                assertEquals(-1, WatchedM.of(Machine.current()).awaited);
                GStack.exit(st);
            });
        }
    }

    /** After a goroutine that no point stopped the next one in the same slice is asked to yield before it loses its P. */
    @Test
    void thatOneCameToNoPointSaysNothingOfTheNext() throws ReflectiveOperationException, InterruptedException {
        assumeTrue(Gate.possible());
        assertTrue(LoopWithPoints.copy().applyAsLong(1) != 0);
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            Retake retake = retake(gmp.s, new Stalls(gmp.s.config.debug()));
            gmp.run(() -> {
                Go.go(() -> { });
                Machine m = Machine.current();
                long tid = M.PROCID.get(m.mp);
                boolean _ = retake.look(System.nanoTime());
                M.PROCID.set(m.mp, 1 << 23); // No thread's: there is no clock, and so no point stops it from the second scan on.
                try {
                    long now = System.nanoTime() + 2 * QUANTUM.toNanos();
                    assertFalse(retake.look(now), "told");
                    G.PREEMPT.setOpaque(M.CURG.getOpaque(m.mp), 0); // As if it were another.
                    assertFalse(retake.look(now + 1), "told as well");
                    assertTrue(m.pp() != 0);
                    assertTrue(retake.look(now + 2), "no point stops it");
                    assertEquals(0, m.pp());
                } finally {
                    M.PROCID.set(m.mp, tid);
                }
            });
        }
    }
}
