// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.struct.Throw;
import org.gmp4j.testing.NoHalt;
import org.gmp4j.testing.Raw;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoHalt.class)
class IdleTest {
    @Test
    void idlePs() {
        try (FakeSched f = new FakeSched(3)) {
            long idle = Schedt.IDLEPMASK.getAcquire(f.sched);
            long timer = Schedt.TIMERPMASK.getAcquire(f.sched);
            assertEquals(0, Idle.pidleget(f.sched, 0));
            Raw.setInt(Struct.P, "timersLen", f.ps[1], 1);
            for (long pp : f.ps) {
                Idle.maskSet(timer, P.ID.get(pp));
                PStatus.set(pp, PStatus.PIDLE);
                assertFalse(Idle.consistent(f.sched, pp));
                Idle.pidleput(f.sched, pp, 1_000);
                assertTrue(Idle.consistent(f.sched, pp));
            }
            assertEquals(3, Schedt.NPIDLE.getVolatile(f.sched));
            assertFalse(Idle.maskRead(timer, 0), "an idle P without timers is not looked at");
            assertTrue(Idle.maskRead(timer, 1), "an idle P with timers is");
            assertEquals(f.ps[2], Idle.pidleget(f.sched, 1_500), "the last in, whose caches are warmest");
            assertEquals(500, P.IDLETIME.getOpaque(f.ps[2]));
            assertFalse(Idle.maskRead(idle, 2));
            assertTrue(Idle.maskRead(timer, 2), "it may get timers from now on");
            assertEquals(f.ps[1], Idle.pidlegetSpinning(f.sched, 1_500));
            assertEquals(0, Schedt.NEEDSPINNING.getVolatile(f.sched));
            assertEquals(f.ps[0], Idle.pidleget(f.sched, 1_500));
            assertEquals(0, Idle.pidlegetSpinning(f.sched, 1_500));
            assertEquals(1, Schedt.NEEDSPINNING.getVolatile(f.sched), "a spinner is wanted as soon as there is a P");
            assertEquals(0, Schedt.NPIDLE.getVolatile(f.sched));
        }
    }

    @Test
    void aPWithWorkIsNotIdle() {
        try (FakeSched f = new FakeSched(1)) {
            Runq.runqput(f.sched, f.ps[0], f.runnable(), true);
            assertThrows(Throw.class, () -> Idle.pidleput(f.sched, f.ps[0], 0));
        }
    }

    @Test
    void idleMs() {
        try (FakeSched f = new FakeSched(1)) {
            long m1 = Mem.alloc(Struct.M, 1);
            long m2 = Mem.alloc(Struct.M, 1);
            assertEquals(0, Idle.mget(f.sched));
            Idle.mput(f.sched, m1);
            Idle.mput(f.sched, m2);
            assertEquals(2, Schedt.NMIDLE.getOpaque(f.sched));
            assertEquals(m2, Idle.mget(f.sched));
            assertEquals(m1, Idle.mget(f.sched));
            assertEquals(0, Idle.mget(f.sched));
            assertEquals(0, Schedt.NMIDLE.getOpaque(f.sched));
            Mem.recycle(Struct.M, m1);
            Mem.recycle(Struct.M, m2);
        }
    }

    /** Neighbours in one word do not disturb each other. */
    @Stress
    void masksAreAtomic() throws InterruptedException {
        long mask = Memory.map(4096);
        Threads threads = new Threads();
        for (int t = 0; t < 4; t++) {
            int first = t;
            threads.add("bits" + t, () -> {
                for (int round = 0; round < 20_000; round++) {
                    for (int id = first; id < 64; id += 4) {
                        assertEquals((round & 1) == 1, Idle.maskRead(mask, id));
                        if ((round & 1) == 0) {
                            Idle.maskSet(mask, id);
                        } else {
                            Idle.maskClear(mask, id);
                        }
                    }
                }
            });
        }
        threads.run();
        Memory.unmap(mask, 4096);
    }
}
