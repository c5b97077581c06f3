// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.function.LongUnaryOperator;

import org.gmp4j.agent.Points;
import org.gmp4j.ffi.VmFlags;
import org.gmp4j.sched.PointHook;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Machines;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What sysmon's looks do to the point at which a goroutine was stopped ({@link ArmPoints}). The looks are the test's. */
class ArmPointsTest {
    private static final long SECOND = 1_000_000_000;
    private static final int LOOKS_EVERY = 20;
    private static final int MOST_LOOKS = 1_000;
    private static final int ROUNDS = 100;

    private LongUnaryOperator loop;

    @BeforeEach
    void aPointThatIsNotArmed() throws ReflectiveOperationException {
        assumeTrue(VmFlags.countedLoopsPoll(), "all points are armed for good");
        loop = LoopWithPoints.copy();
        int _ = Points.disarmAll();
    }

    @AfterEach
    void restore() {
        PointHook.restore();
        int _ = Points.disarmAll();
    }

    private static boolean isArmed() {
        return Points.armed().contains(LoopWithPoints.class.getName() + ".applyAsLong 0");
    }

    /** How often the loop calls the hook. */
    private long reached() {
        long before = Points.counters().reached();
        assertTrue(loop.applyAsLong(ROUNDS) != 0);
        return Points.counters().reached() - before;
    }

    /** Learnt at the look after the overrun: the next goroutine stops there at once. When overruns have stopped it is disarmed. */
    @Test
    void learntAndForgotten() throws InterruptedException {
        long mp = Mem.alloc(Struct.M, 1);
        try (Unwatched gmp = new Unwatched(SECOND)) {
            Points.setHook(() -> { }, () -> true); // Each point that is reached stops a goroutine.
            Machine on = Machines.of(gmp.s, mp);
            M.PROCID.set(mp, 1 << 23); // No thread's.
            ArmPoints points = new ArmPoints();
            try {
                long now = System.nanoTime();
                assertTrue(points.overran(on, 1));
                assertTrue(reached() > 0, "interpreted, it needs no nudge");
                points.looked(true, now);
                assertTrue(isArmed());
                for (int i = 1; i < MOST_LOOKS && isArmed(); i++) {
                    points.looked(false, now + i * SECOND);
                    Thread.sleep(LOOKS_EVERY);
                }
                assertFalse(isArmed(), "it stays armed");
            } finally {
                points.close();
            }
        } finally {
            Mem.recycle(Struct.M, mp);
        }
    }
}
