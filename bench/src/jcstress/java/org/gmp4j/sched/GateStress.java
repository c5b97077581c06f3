// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.Membarrier;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * {@link Gate}: a thread that enters the runtime ({@link GStack#raise}) while somebody takes its P. Its store and its load have no fence
 * between them that the machine would know of; the taker's membarrier is the fence of both.
 */
@JCStressTest
@Outcome(id = {"true, false", "false, true", "false, false"}, expect = ACCEPTABLE, desc = "one of them, or neither yet")
@Outcome(expect = FORBIDDEN, desc = "the thread goes on with a P that was taken")
@State
public class GateStress {
    private final long mp = Mem.alloc(Struct.M, 1);

    public GateStress() {
        M.attachP(mp, 1); // Opens the gate.
    }

    @Actor
    public void enters(ZZ_Result r) {
        M.LOCKS.setOpaque(mp, M.LOCKS.getOpaque(mp) + 1);
        VarHandle.acquireFence();
        r.r1 = M.GATE.getOpaque(mp) == M.GATE_OPEN;
    }

    @Actor
    public void takes(ZZ_Result r) {
        boolean asked = M.LOCKS.getOpaque(mp) == 0 && M.GATE.compareAndSet(mp, M.GATE_OPEN, M.GATE_ASKED);
        Membarrier.run();
        r.r2 = asked && M.LOCKS.getAcquire(mp) == 0 && M.GATE.compareAndSet(mp, M.GATE_ASKED, M.GATE_TAKING);
    }

    @Arbiter
    public void end() {
        Mem.recycle(Struct.M, mp);
    }
}
