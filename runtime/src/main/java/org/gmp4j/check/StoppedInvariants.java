// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.check;

import java.util.HashSet;
import java.util.Set;

import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Sudog;
import org.jspecify.annotations.Nullable;

/** Checks the invariants of a stopped world. It visits every queue, list and struct once. */
final class StoppedInvariants extends InvariantChecks {
    /** The caller's M if it has a P of this scheduler, else 0. */
    private final long self;
    /** All Gs; null before the first use. */
    private @Nullable Set<Long> known;

    StoppedInvariants(Scheduler s) {
        super(s);
        Machine m = Machine.current();
        self = m != null && m.s == s && m.pp() != 0 ? m.mp : 0;
    }

    @Override
    void run() {
        require(Schedt.GCWAITING.getAcquire(sched) != 0, "P4", "the world is not stopped");
        int procs = Schedt.GOMAXPROCS.getOpaque(sched);
        Processor[] all = s.procs();
        for (int i = 0; i < all.length; i++) {
            long pp = all[i].pp;
            if (i < procs) {
                stoppedP(pp);
                ring(pp);
            } else {
                deadP(pp);
            }
            localFree(pp);
            require(Idle.maskRead(Schedt.IDLEPMASK.getAcquire(sched), i) == (PStatus.get(pp) == PStatus.PIDLE),
                    "P6", "P%d is not as its bit in idlepMask says", i);
        }
        long spinners = Schedt.NMSPINNING.getVolatile(sched);
        expect(spinners == 0, "M2", "%d Ms spin in a stopped world, %d of them on their way", Schedt.spinning(spinners),
                Schedt.onTheirWay(spinners));
        locked(() -> {
            lists();
            expect(Schedt.NPIDLE.getVolatile(sched) == 0, "P4", "npidle is %d in a stopped world",
                    Schedt.NPIDLE.getVolatile(sched));
            globalFree();
        });
        for (Machine m : s.machines()) {
            stoppedM(m);
        }
        gs();
    }

    private void stoppedP(long pp) {
        long id = P.ID.get(pp);
        long m = P.M.getOpaque(pp);
        require(PStatus.get(pp) == PStatus.PGCSTOP, "P4", "P%d is in state %d in a stopped world", id, PStatus.get(pp));
        if (self != 0 && M.P.getOpaque(self) == pp) {
            require(m == self, "P1", "P%d is the caller's and has another M or none", id);
        } else {
            require(m == 0, "P1", "P%d is stopped and has an M", id);
        }
        require(P.GOIDCACHE.get(pp) <= P.GOIDCACHEEND.get(pp), "goid", "P%d: the range of goids has run over", id);
        // Sysmon, or an M without a P, may be between the two stores of adding an alarm.
        expect((P.TIMERSLEN.getOpaque(pp) == 0) == (P.TIMER0WHEN.getAcquire(pp) == 0), "timers",
                "P%d has %d timers and the first is due at %d", id, P.TIMERSLEN.getOpaque(pp), P.TIMER0WHEN.getAcquire(pp));
    }

    private void ring(long pp) {
        long id = P.ID.get(pp);
        int head = Runq.head(pp);
        int n = Runq.tail(pp) - head;
        require(n >= 0 && n <= Runq.LEN, "R1", "P%d: tail - head is %d, of %d", id, n, Runq.LEN);
        for (int i = 0; i < Math.clamp(n, 0, Runq.LEN); i++) {
            queued(Runq.at(pp, head + i), "the ring of P" + id);
        }
        long next = Runq.runnext(pp);
        if (next != 0) {
            require(isG(next), "R5", "runnext of P%d is no G", id);
            require(!isG(next) || status(next) == GStatus.GRUNNABLE, "R5", "runnext of P%d is not runnable", id);
            require(!place.containsKey(next), "R5", "runnext of P%d is in a ring too", id);
            queued(next, "runnext of P" + id);
        }
    }

    /** Checks a G that was found in a run queue. */
    private void queued(long gp, String where) {
        require(isG(gp), "R1", where + " holds %d, which is no G", gp);
        if (!isG(gp)) {
            return;
        }
        String other = place.put(gp, where);
        require(other == null, "G3", "goroutine %d is in " + where + " and in " + other, G.GOID.get(gp));
        require(status(gp) == GStatus.GRUNNABLE, status(gp) == GStatus.GWAITING ? "G4" : "G3",
                "goroutine %d is in " + where + " in state %d", G.GOID.get(gp), status(gp));
        require(G.M.getOpaque(gp) == 0, "G3", "goroutine %d is in " + where + " and on an M", G.GOID.get(gp));
    }

    private boolean isG(long gp) {
        if (known == null) {
            known = new HashSet<>();
            s.slots.forEach(known::add);
        }
        return known.contains(gp);
    }

    private void stoppedM(Machine m) {
        long mp = m.mp;
        long id = M.ID.get(mp);
        expect(M.SPINNING.getOpaque(mp) == 0, "M2", "M%d spins in a stopped world", id);
        if (mp == self) {
            require(M.CURG.getOpaque(mp) != 0 || GStack.current() == null, "G2", "the caller's M%d has no curg", id);
        } else {
            require(M.P.getOpaque(mp) == 0, "P1", "M%d has a P in a stopped world", id);
            long gp = M.CURG.getOpaque(mp);
            expect(gp == 0 || status(gp) == GStatus.GSYSCALL, "G2", "M%d runs a goroutine in a stopped world", id);
        }
        // An M without a P that is going to sleep, or returns from a system call, may take a lock for a moment.
        expect(m.held == 0, "G5", "M%d holds %d runtime locks in a stopped world", id, m.held);
        anyM(mp);
    }

    private void gs() {
        long[] live = new long[1];
        GStack own = GStack.current();
        s.slots.forEach(gp -> {
            int st = status(gp);
            require(legal(st), "G1", "a G has state %d", st);
            if (st == GStatus.GDEAD) {
                expect(place.containsKey(gp), "gfree", "a dead G (slot %d) is in no free list", G.INDEX.get(gp));
                return;
            }
            live[0]++;
            if (st == GStatus.GRUNNABLE) {
                expect(place.containsKey(gp), "G3", "goroutine %d is runnable and in no queue", G.GOID.get(gp));
            } else if (st == GStatus.GRUNNING) {
                require(own != null && own.gp() == gp, "G2", "goroutine %d runs in a stopped world", G.GOID.get(gp));
            } else if (st == GStatus.GSYSCALL) {
                inSyscall(gp); // The goroutine runs on while the world is stopped, until it needs a P.
            } else if (st == GStatus.GWAITING) {
                expect(G.M.getOpaque(gp) == 0, "G4", "goroutine %d waits and is on an M", G.GOID.get(gp));
            }
            lockedToItsM(gp, st);
            GStack stack = (GStack) GSlots.stack(gp);
            expect(GSlots.isCollected(gp) || (stack != null) == (G.HASSTACK.get(gp) != 0) && (stack == null || stack.gp() == gp),
                    "stack", "goroutine %d and its stack do not belong together", G.GOID.get(gp));
        });
        if (own != null && own.scheduler() == s) {
            triangle(own.gp());
        }
        expect(live[0] == s.gcount(), "gcount", "%d goroutines live, %d are counted", live[0], s.gcount());
    }

    private void localFree(long pp) {
        int n = 0;
        for (long gp = P.GFREE.get(pp); gp != 0 && n <= P.GFREEN.get(pp); gp = G.SCHEDLINK.get(gp)) {
            free(gp, "the free list of P" + P.ID.get(pp));
            n++;
        }
        require(n == P.GFREEN.get(pp), "gfree", "P%d: gfreen is %d, the list has %d", P.ID.get(pp), P.GFREEN.get(pp), n);
        Set<Long> sudogs = new HashSet<>();
        for (long sg = P.SUDOGCACHE.get(pp); sg != 0 && sudogs.size() <= P.SUDOGN.get(pp) && sudogs.add(sg);) {
            sg = Sudog.WAITLINK.get(sg);
        }
        require(sudogs.size() == P.SUDOGN.get(pp), "sudog", "P%d: sudogn is %d, the list has %d", P.ID.get(pp), P.SUDOGN.get(pp),
                sudogs.size());
    }

    private void globalFree() {
        long n = 0;
        for (long gp = Schedt.GFREE.get(sched); gp != 0 && n <= Schedt.GFREECOUNT.getOpaque(sched); gp = G.SCHEDLINK.get(gp)) {
            free(gp, "sched.gfree");
            n++;
        }
        require(n == Schedt.GFREECOUNT.getOpaque(sched), "gfree", "gfreecount is %d, the list has %d",
                Schedt.GFREECOUNT.getOpaque(sched), n);
    }

    private void free(long gp, String where) {
        require(status(gp) == GStatus.GDEAD, "gfree", "a G in state %d is in " + where, status(gp));
        String other = place.put(gp, where);
        require(other == null, "gfree", "a G (slot %d) is in " + where + " and in " + other, G.INDEX.get(gp));
    }
}
