// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.gmp4j.Go;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@link SliceClock}. */
class SliceClockTest {
    private static final long ESTIMATE = 42;
    private static final long LONG_AFTER = 101_000_000;
    private static final long MILLISECOND = 1_000_000;
    /** Slices in a millisecond: too many to be timed; not too many. */
    private static final int MANY = 101;
    private static final int FEW = 100;

    private long first;
    private long second;

    @BeforeEach
    void twoPs() {
        first = Mem.alloc(Struct.P, 1);
        second = Mem.alloc(Struct.P, 1);
        P.ID.set(second, 1);
    }

    @AfterEach
    void free() {
        Mem.recycle(Struct.P, first);
        Mem.recycle(Struct.P, second);
    }

    @Test
    void whichSlice() {
        SliceClock c = new SliceClock();
        assertFalse(c.look(System.nanoTime(), MANY, MILLISECOND));
        P.SCHEDTICK.setOpaque(first, 7);
        c.begins(first);
        assertEquals(ESTIMATE, c.began(SliceClock.slice(first, 7), ESTIMATE), "nobody asked for it");
        c.ranOn(System.nanoTime());
        long before = System.nanoTime();
        P.SCHEDTICK.setOpaque(first, 8);
        c.begins(first);
        long began = c.began(SliceClock.slice(first, 8), ESTIMATE);
        assertTrue(before <= began && began <= System.nanoTime());
        assertEquals(ESTIMATE, c.began(SliceClock.slice(first, 7), ESTIMATE));
        assertEquals(ESTIMATE, c.began(SliceClock.slice(first, 9), ESTIMATE));
        assertEquals(ESTIMATE, c.began(SliceClock.slice(second, 8), ESTIMATE), "of another P");
    }

    /** While goroutines run on though others wait, and for a while afterwards. */
    @Test
    void forAWhile() {
        SliceClock c = new SliceClock();
        long now = System.nanoTime();
        assertFalse(c.look(now, MANY, MILLISECOND));
        c.ranOn(now);
        assertTrue(c.look(now + LONG_AFTER / 2, MANY, MILLISECOND));
        assertFalse(c.look(now + LONG_AFTER, MANY, MILLISECOND));
        P.SCHEDTICK.setOpaque(first, 8);
        c.begins(first);
        assertEquals(ESTIMATE, c.began(SliceClock.slice(first, 8), ESTIMATE));
    }

    @Test
    void whileTheyAreFew() {
        SliceClock c = new SliceClock();
        long now = System.nanoTime();
        assertFalse(c.look(now, MANY, MILLISECOND));
        assertTrue(c.look(now, FEW, MILLISECOND));
        assertFalse(c.look(now, MANY, MILLISECOND));
        assertTrue(c.look(now, 0, 1), "the same slice still");
    }

    /** Slices are timed while one that runs on has others waiting, and not while it has the P for itself. */
    @Test
    void whileOthersWait() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            gmp.run(() -> {
                Machine m = Machine.of();
                long alone = System.nanoTime();
                while (System.nanoTime() - alone < LONG_AFTER) {
                    assertFalse(m.slices.look(alone, MANY, MILLISECOND));
                }
                boolean[] ran = new boolean[1];
                Go.go(() -> ran[0] = true);
                while (!m.slices.look(alone, MANY, MILLISECOND)) {
                    Thread.onSpinWait();
                }
                assertFalse(ran[0]);
            });
        }
    }
}
