// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.util.function.BooleanSupplier;

import org.gmp4j.sched.Preempt;
import org.gmp4j.sched.Threads;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/** Does what sysmon does, sooner: takes Ps from system calls and from goroutines that run, a few times. */
final class Retakes implements Runnable {
    private static final int ROUNDS = 3;

    private final OfLoop of;
    private final boolean calls;
    private final BooleanSupplier over;
    private boolean taken;

    /** Takes Ps from calls and from goroutines, {@link #ROUNDS} times. */
    Retakes(OfLoop of) {
        this.of = of;
        calls = false;
        over = () -> true;
    }

    private Retakes(OfLoop of, BooleanSupplier over) {
        this.of = of;
        calls = true;
        this.over = over == null ? () -> taken : over;
    }

    /** Takes Ps from calls alone, until it has taken one. */
    static Retakes untilTaken(OfLoop of) {
        return new Retakes(of, null);
    }

    /** Takes Ps from calls alone until a time. */
    static Retakes until(OfLoop of, BooleanSupplier over) {
        return new Retakes(of, over);
    }

    @Override
    public void run() {
        for (int i = 0; i < ROUNDS || !over.getAsBoolean(); i++) {
            if (i >= ROUNDS) {
                Thread.onSpinWait();
            }
            for (Processor p : of.s.procs()) {
                long pp = p.pp;
                if (PStatus.get(pp) == PStatus.PRUNNING && !calls) {
                    boolean _ = Preempt.preemptone(pp);
                    boolean _ = Gate.take(of.s, P.M.getOpaque(pp), P.SCHEDTICK.getOpaque(pp));
                }
                taken |= handOff(of.s, pp);
            }
        }
    }

    /** Takes a P from a system call and hands it off. Returns false if it is in none. */
    static boolean handOff(Scheduler s, long pp) {
        if (PStatus.get(pp) != PStatus.PSYSCALL || Schedt.GCWAITING.getAcquire(s.sched) != 0
                || !PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PIDLE)) {
            return false;
        }
        P.SYSCALLTICK.set(pp, P.SYSCALLTICK.getOpaque(pp) + 1);
        Threads.handoffp(s, pp);
        return true;
    }
}
