// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import org.gmp4j.sched.Preempt;
import org.gmp4j.sched.Threads;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/** Does what sysmon does, sooner: takes Ps from system calls and from goroutines that run, a few times. */
final class Retakes implements Runnable {
    private static final int ROUNDS = 3;

    private final OfLoop of;
    private final boolean untilTaken;

    Retakes(OfLoop of) {
        this(of, false);
    }

    /** @param untilTaken whether to go on until a P was taken from a system call */
    Retakes(OfLoop of, boolean untilTaken) {
        this.of = of;
        this.untilTaken = untilTaken;
    }

    @Override
    public void run() {
        boolean taken = false;
        for (int i = 0; i < ROUNDS || untilTaken && !taken; i++) {
            if (i >= ROUNDS) {
                Thread.onSpinWait();
            }
            for (Processor p : of.s.procs()) {
                long pp = p.pp;
                if (PStatus.get(pp) == PStatus.PRUNNING && !untilTaken) {
                    boolean _ = Preempt.preemptone(pp);
                    boolean _ = Gate.take(of.s, P.M.getOpaque(pp), P.SCHEDTICK.getOpaque(pp));
                }
                if (PStatus.get(pp) == PStatus.PSYSCALL && Schedt.GCWAITING.getAcquire(of.s.sched) == 0
                        && PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PIDLE)) {
                    P.SYSCALLTICK.set(pp, P.SYSCALLTICK.getOpaque(pp) + 1);
                    Threads.handoffp(of.s, pp);
                    taken = true;
                }
            }
        }
    }
}
