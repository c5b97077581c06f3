// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Machines;
import org.gmp4j.sched.jdk.Stacks;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.Structs;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * {@link Park}'s contract: the M parks the G (park_m, {@link Mcall#perform}) while a waker waits for the lock that the
 * parking gives back. Whoever has the lock finds the G waiting and off its M, with all that it wrote.
 */
public class ParkStress {
    /** A G that holds the lock of what it waits for and has just yielded to its M. */
    @JCStressTest
    @Outcome(id = "1, 7", expect = ACCEPTABLE, desc = "woken once it waits")
    @Outcome(expect = FORBIDDEN, desc = "not waiting, still on its M, or its data is not visible")
    @State
    public static class ReadyAgainstPark {
        private final long mp = Mem.alloc(Struct.M, 1);
        private final long gp = Structs.g(0);
        private final Machine machine = Machines.of(mp);
        private final GStack stack = (GStack) Stack.of(Stacks.newThread(null, () -> { }));
        private final HeapMutex lock = new HeapMutex(LockRank.HCHAN);

        public ReadyAgainstPark() {
            GStatus.casgstatus(gp, GStatus.GIDLE, GStatus.GDEAD);
            GStatus.casgstatus(gp, GStatus.GDEAD, GStatus.GRUNNABLE);
            GStatus.casgstatus(gp, GStatus.GRUNNABLE, GStatus.GRUNNING);
            G.M.set(gp, mp);
            M.CURG.setOpaque(mp, gp);
            lock.lock();
        }

        @Actor
        public void parker() {
            G.GOID.set(gp, 7);
            stack.gp = gp;
            stack.parkUnlock = (g, l) -> {
                ((HeapMutex) l).unlock();
                return true;
            };
            stack.parkLock = lock;
            long _ = Mcall.perform(machine, stack, Mcall.PARK);
        }

        @Actor
        public void waker(II_Result r) {
            lock.lock();
            boolean parted = G.M.get(gp) == 0;
            boolean readied = GStatus.trycasgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
            lock.unlock();
            r.r1 = parted && readied ? 1 : 0;
            r.r2 = (int) G.GOID.get(gp);
        }

        @Arbiter
        public void end() {
            Structs.freeG(gp);
            Mem.recycle(Struct.M, mp);
        }
    }
}
