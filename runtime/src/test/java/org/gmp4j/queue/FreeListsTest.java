// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.SudogSlots;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** {@link GFree} and {@link SudogCache}. */
class FreeListsTest {
    /** Go: 64 on a P, then half goes to the common list; a P that has none takes up to 32 from there. */
    @Test
    void deadGs() {
        try (FakeSched f = new FakeSched(2)) {
            Set<Long> all = new HashSet<>();
            assertEquals(0, GFree.gfget(f.sched, f.ps[0]));
            for (int i = 0; i < 100; i++) {
                long gp = f.dead();
                all.add(gp);
                GFree.gfput(f.sched, f.ps[0], gp);
                assertTrue(P.GFREEN.get(f.ps[0]) < 64);
                assertEquals(i + 1, P.GFREEN.get(f.ps[0]) + Schedt.GFREECOUNT.getOpaque(f.sched));
            }
            assertEquals(64, Schedt.GFREECOUNT.getOpaque(f.sched));
            assertTrue(all.remove(GFree.gfget(f.sched, f.ps[1])));
            assertEquals(31, P.GFREEN.get(f.ps[1]));
            assertEquals(32, Schedt.GFREECOUNT.getOpaque(f.sched));
            GFree.gfpurge(f.sched, f.ps[1]);
            assertEquals(0, P.GFREEN.get(f.ps[1]));
            assertEquals(63, Schedt.GFREECOUNT.getOpaque(f.sched));
            for (long pp : f.ps) {
                for (long gp = GFree.gfget(f.sched, pp); gp != 0; gp = GFree.gfget(f.sched, pp)) {
                    assertTrue(all.remove(gp), "given out twice");
                }
            }
            assertTrue(all.isEmpty());
            assertEquals(0, GFree.getGlobal(f.sched));
        }
    }

    @Test
    void sudogsComeBackClean() {
        try (FakeSched f = new FakeSched(1)) {
            for (long pp : new long[] {f.ps[0], 0}) {
                long sg = SudogCache.acquire(pp);
                SudogSlots.setElem(sg, "value");
                Sudog.G.set(sg, 1);
                Sudog.SUCCESS.set(sg, 1);
                Sudog.TICKET.set(sg, 1);
                Sudog.NEXT.set(sg, 2);
                SudogCache.release(pp, sg);
                assertNull(SudogSlots.elem(sg), "the collector may have the value");
                assertEquals(sg, SudogCache.acquire(pp));
                assertEquals(0, Sudog.G.get(sg));
                assertEquals(0, Sudog.SUCCESS.get(sg));
                assertEquals(0, Sudog.TICKET.get(sg));
                assertEquals(0, Sudog.NEXT.get(sg));
                assertEquals(0, Sudog.WAITLINK.get(sg));
                SudogCache.release(pp, sg);
            }
            SudogCache.purge(f.ps[0]);
            assertEquals(0, P.SUDOGN.get(f.ps[0]));
            assertEquals(0, P.SUDOGCACHE.get(f.ps[0]));
        }
    }

    /** Several Ps and a thread without one: no two hold the same struct, and Ps keep a bounded number. */
    @Stress
    void sudogsHaveOneHolder() throws InterruptedException {
        try (FakeSched f = new FakeSched(2)) {
            Set<Long> held = ConcurrentHashMap.newKeySet();
            Threads threads = new Threads();
            for (long pp : new long[] {f.ps[0], f.ps[1], 0}) {
                threads.add("user" + pp, () -> {
                    long[] mine = new long[300];
                    for (int round = 0; round < 100; round++) {
                        for (int i = 0; i < mine.length; i++) {
                            mine[i] = SudogCache.acquire(pp);
                            assertNotEquals(0, mine[i]);
                            assertTrue(held.add(mine[i]), "held twice");
                        }
                        for (long sg : mine) {
                            held.remove(sg);
                            SudogCache.release(pp, sg);
                        }
                        assertTrue(pp == 0 || P.SUDOGN.get(pp) <= 128);
                    }
                });
            }
            threads.run();
            SudogCache.purge(f.ps[0]);
            SudogCache.purge(f.ps[1]);
        }
    }

    @Test
    void waitersFirstInFirstOut() {
        WaitQ q = new WaitQ();
        long[] sg = {SudogCache.acquire(0), SudogCache.acquire(0), SudogCache.acquire(0)};
        assertTrue(q.isEmpty());
        assertEquals(0, q.dequeue());
        q.enqueue(sg[0]);
        q.enqueue(sg[1]);
        assertEquals(sg[0], q.dequeue());
        q.enqueue(sg[2]);
        assertEquals(sg[1], q.dequeue());
        assertEquals(sg[2], q.dequeue());
        assertEquals(0, q.dequeue());
        assertTrue(q.isEmpty());
        for (long s : sg) {
            SudogCache.release(0, s);
        }
    }
}
