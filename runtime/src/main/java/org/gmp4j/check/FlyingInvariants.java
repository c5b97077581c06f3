// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.check;

import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/** Checks invariants while the scheduler runs. It checks the lists, Ps and Ms under sched.lock, and Gs without a lock. */
final class FlyingInvariants extends InvariantChecks {
    FlyingInvariants(Scheduler s) {
        super(s);
    }

    @Override
    void run() {
        locked(() -> {
            if (s.isStopped()) {
                return;
            }
            lists();
            int live = Schedt.GOMAXPROCS.getOpaque(sched);
            for (Processor pr : s.procs()) {
                if (P.ID.get(pr.pp) >= live) {
                    deadP(pr.pp);
                }
                flyingP(pr.pp);
            }
            for (Machine m : s.machines()) {
                flyingM(m);
            }
        });
        GStack own = GStack.current();
        if (own != null && own.scheduler() == s) {
            triangle(own.gp());
        }
        s.slots.forEach(this::flyingG);
    }

    private void flyingG(long gp) {
        int status = status(gp);
        require(legal(status), "G1", "a G has state %d", status);
        if (status == GStatus.GRUNNING) {
            long mp = G.M.getOpaque(gp);
            expect(mp != 0 && M.CURG.getOpaque(mp) == gp && M.P.getOpaque(mp) != 0 || status(gp) != status, "G2",
                    "goroutine %d runs and its triangle with M and P is broken", G.GOID.get(gp));
        } else if (status == GStatus.GSYSCALL) {
            inSyscall(gp);
        }
        lockedToItsM(gp, status);
    }

    private void flyingP(long pp) {
        long id = P.ID.get(pp);
        int head = Runq.head(pp);
        int n = Runq.tail(pp) - head;
        // If the head has not changed during the read of the tail, both are from one state of the ring.
        require(Runq.head(pp) != head || n >= 0 && n <= Runq.LEN, "R1", "P%d: tail - head is %d, of %d", id, n, Runq.LEN);

        long switches = P.NSWITCH.getOpaque(pp) + P.NINPLACE.getOpaque(pp);
        long next = Runq.runnext(pp);
        if (next != 0) {
            boolean runnable = status(next) == GStatus.GRUNNABLE;
            boolean still = Runq.runnext(pp) == next && switches == P.NSWITCH.getOpaque(pp) + P.NINPLACE.getOpaque(pp);
            expect(runnable || !still, "R5", "runnext of P%d is not runnable", id);
        }
        long m = P.M.getOpaque(pp);
        int status = PStatus.get(pp);
        if (status == PStatus.PRUNNING) {
            expect(m != 0 && M.P.getOpaque(m) == pp, "P1", "P%d runs and its M does not know", id);
        } else if (status == PStatus.PIDLE) {
            expect(m == 0, "P2", "P%d is idle and has an M", id);
        } else if (status == PStatus.PSYSCALL) {
            leftInSyscall(pp);
        } else if (status == PStatus.PGCSTOP) {
            // The status PGCSTOP and gcwaiting change only under sched.lock, which is held here.
            require(Schedt.GCWAITING.getAcquire(sched) != 0, "P4", "P%d is stopped and the world is not", id);
        } else {
            require(id >= Schedt.GOMAXPROCS.getOpaque(sched), "P5", "P%d is dead and below gomaxprocs", id);
        }
        boolean bit = Idle.maskRead(Schedt.IDLEPMASK.getAcquire(sched), (int) id);
        expect(bit == (status == PStatus.PIDLE) || onTheWay(pp), "P6", "P%d is not as its bit in idlepMask says", id);
    }

    /** Checks invariant P3 of a P that was found in _Psyscall. */
    private void leftInSyscall(long pp) {
        long id = P.ID.get(pp);
        int call = P.SYSCALLTICK.getOpaque(pp);
        expect(P.M.getOpaque(pp) == 0 || PStatus.get(pp) != PStatus.PSYSCALL, "P3", "P%d is in a system call and has an M", id);
        boolean left = false;
        for (Machine m : s.machines()) {
            left |= M.OLDP.getOpaque(m.mp) == pp && M.P.getOpaque(m.mp) == 0;
        }
        expect(left || PStatus.get(pp) != PStatus.PSYSCALL, "P3", "P%d is in a system call and no M has left it", id);
        // A violation counts only if each of several passes finds it with the same message: see Invariants.look. The message has the
        // number of the call, so that work in different calls does not count.
        expect(Runq.runqempty(pp) || PStatus.get(pp) != PStatus.PSYSCALL, "P3",
                "P%d is in system call %d and has work", id, call);
    }

    /** Returns whether a waker has given the P to an M that has not taken it yet. */
    private boolean onTheWay(long pp) {
        for (Machine m : s.machines()) {
            if (M.NEXTP.get(m.mp) == pp) {
                return true;
            }
        }
        return false;
    }

    private void flyingM(Machine m) {
        long mp = m.mp;
        long id = M.ID.get(mp);
        expect(M.BLOCKED.getOpaque(mp) == 0 || m.held == 0, "G5", "M%d sleeps and holds %d runtime locks", id, m.held);
        anyM(mp);
        if (M.SPINNING.getOpaque(mp) != 0) {
            long pp = M.P.getOpaque(mp);
            expect(pp != 0 || M.NEXTP.get(mp) != 0, "M2", "M%d spins without a P", id);
            expect(M.CURG.getOpaque(mp) == 0, "M3", "M%d spins and runs a goroutine", id);
            expect(pp == 0 || Runq.runqempty(pp), "M3", "M%d spins and its P has work", id);
        }
    }
}
