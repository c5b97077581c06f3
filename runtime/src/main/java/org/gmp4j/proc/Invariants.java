package org.gmp4j.proc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Sudog;

/**
 * A debug tool: checks the invariants of the specification over the live structs of a scheduler, in two ways. {@link #check}
 * wants the world stopped and sees everything; {@link #sample} takes {@code sched.lock} and sees what that lock keeps still,
 * and the rest as it flies by.
 *
 * <p>Some invariants hold at every moment (what the lock guards; the ring's bound): one look decides. Others are broken for
 * an instant by design, between two stores of one thread: a P is idle before it is in the idle list, and a G that a thread
 * without a P has just readied is on no queue yet. Those count only if they last through many looks.
 *
 * <p>The checks are cross-checks: each thread obeys them by its own order of stores, and nothing here makes it so.
 */
public final class Invariants {
    private static final int LOOKS = 100;
    private static final int LONGEST_PAUSE_MILLIS = 50;

    private final Scheduler s;
    private final long sched;
    private final int procs;
    /** The M of the caller with a P of this scheduler, or 0. */
    private final long self;
    private final Set<String> broken = new LinkedHashSet<>();
    private final Set<String> doubtful = new LinkedHashSet<>();
    private final Map<Long, String> place = new HashMap<>();

    private Invariants(Scheduler s) {
        this.s = s;
        this.sched = s.sched;
        this.procs = Schedt.gomaxprocsOpaque(sched);
        this.self = Park.onP(s) ? Machine.of().mp : 0;
    }

    /** Checks all invariants; call it with the world stopped. Empty when all hold. */
    public static List<String> check(Scheduler s) {
        return look(s, true, LOOKS);
    }

    /** Checks what can be checked while everything runs; from any thread. Empty when it holds. */
    public static List<String> sample(Scheduler s) {
        return look(s, false, LOOKS);
    }

    /** Up to {@code looks} looks while something is in doubt. */
    static List<String> look(Scheduler s, boolean stopped, int looks) {
        Set<String> lasting = null;
        for (int i = 1;; i++) {
            Invariants v = once(s, stopped);
            if (lasting == null) {
                lasting = v.doubtful;
            } else {
                lasting.retainAll(v.doubtful);
            }
            if (!v.broken.isEmpty() || lasting.isEmpty() || i >= looks) {
                v.broken.addAll(lasting);
                return new ArrayList<>(v.broken);
            }
            pause(Math.min(i, LONGEST_PAUSE_MILLIS));
        }
    }

    private static Invariants once(Scheduler s, boolean stopped) {
        GStack st = GStack.enter();
        try {
            Invariants v = new Invariants(s);
            if (stopped) {
                v.stopped();
            } else {
                v.flying();
            }
            return v;
        } finally {
            GStack.exit(st);
        }
    }

    /** Sleeps with the thread: a goroutine that stopped the world must not yield. */
    private static void pause(int millis) {
        JdkThreads.pin();
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            JdkThreads.unpin();
        }
    }

    private void require(boolean holds, String invariant, String what, long... args) {
        note(broken, holds, invariant, what, args);
    }

    private void expect(boolean holds, String invariant, String what, long... args) {
        note(doubtful, holds, invariant, what, args);
    }

    private static void note(Set<String> to, boolean holds, String invariant, String what, long... args) {
        if (!holds) {
            Object[] boxed = new Object[args.length];
            for (int i = 0; i < args.length; i++) {
                boxed[i] = args[i];
            }
            to.add(invariant + ": " + what.formatted(boxed));
        }
    }

    // The world is stopped.

    private void stopped() {
        require(Schedt.gcwaitingAcquire(sched) != 0, "P4", "the world is not stopped");
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
            require(Idle.maskRead(Schedt.idlepMaskAcquire(sched), i) == (PStatus.get(pp) == PStatus.PIDLE),
                    "P6", "P%d is not as its bit in idlepMask says", i);
        }
        expect(Schedt.nmspinningVolatile(sched) == 0, "M2", "%d Ms spin in a stopped world",
                Schedt.nmspinningVolatile(sched));
        locked(() -> {
            lists();
            expect(Schedt.npidleVolatile(sched) == 0, "P4", "npidle is %d in a stopped world",
                    Schedt.npidleVolatile(sched));
            globalFree();
        });
        for (Machine m : s.machines()) {
            stoppedM(m);
        }
        gs();
    }

    private void stoppedP(long pp) {
        long id = P.id(pp);
        long m = P.mOpaque(pp);
        require(PStatus.get(pp) == PStatus.PGCSTOP, "P4", "P%d is in state %d in a stopped world", id, PStatus.get(pp));
        if (self != 0 && M.pOpaque(self) == pp) {
            require(m == self, "P1", "P%d is the caller's and has another M or none", id);
        } else {
            require(m == 0, "P1", "P%d is stopped and has an M", id);
        }
        require(P.goidcache(pp) <= P.goidcacheend(pp), "goid", "P%d: the range of goids has run over", id);
        require((P.timersLenOpaque(pp) == 0) == (P.timer0WhenAcquire(pp) == 0), "timers",
                "P%d has %d timers and the first is due at %d", id, P.timersLenOpaque(pp), P.timer0WhenAcquire(pp));
    }

    private void deadP(long pp) {
        long id = P.id(pp);
        require(PStatus.get(pp) == PStatus.PDEAD, "P5", "P%d is beyond gomaxprocs and not dead", id);
        require(Runq.runqempty(pp) && P.gfree(pp) == 0 && P.sudogn(pp) == 0 && P.timersLenOpaque(pp) == 0,
                "P5", "P%d is dead and not drained", id);
    }

    private void ring(long pp) {
        long id = P.id(pp);
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

    /** A G was met in a run queue. */
    private void queued(long gp, String where) {
        require(isG(gp), "R1", where + " holds %d, which is no G", gp);
        if (!isG(gp)) {
            return;
        }
        String other = place.put(gp, where);
        require(other == null, "G3", "goroutine %d is in " + where + " and in " + other, G.goid(gp));
        require(status(gp) == GStatus.GRUNNABLE, status(gp) == GStatus.GWAITING ? "G4" : "G3",
                "goroutine %d is in " + where + " in state %d", G.goid(gp), status(gp));
        require(G.mOpaque(gp) == 0, "G3", "goroutine %d is in " + where + " and on an M", G.goid(gp));
    }

    private Set<Long> known;

    private boolean isG(long gp) {
        if (known == null) {
            known = new HashSet<>();
            s.slots.forEach(known::add);
        }
        return known.contains(gp);
    }

    private static int status(long gp) {
        return GStatus.readgstatus(gp) & ~GStatus.GSCAN;
    }

    private void stoppedM(Machine m) {
        long mp = m.mp;
        long id = M.id(mp);
        expect(M.spinningOpaque(mp) == 0, "M2", "M%d spins in a stopped world", id);
        if (mp == self) {
            require(M.curgOpaque(mp) != 0 || GStack.current() == null, "G2", "the caller's M%d has no curg", id);
        } else {
            require(M.pOpaque(mp) == 0, "P1", "M%d has a P in a stopped world", id);
            long gp = M.curgOpaque(mp);
            expect(gp == 0 || status(gp) == GStatus.GSYSCALL, "G2", "M%d runs a goroutine in a stopped world", id);
        }
        // An M without a P, on its way to sleep or out of a system call, may take a lock for a moment.
        expect(m.held == 0, "G5", "M%d holds %d runtime locks in a stopped world", id, m.held);
        anyM(mp);
    }

    /** What holds for an M, whether the world runs or not. */
    private void anyM(long mp) {
        long id = M.id(mp);
        if (M.incgoOpaque(mp) != 0) {
            long gp = M.curgOpaque(mp);
            expect(M.pOpaque(mp) == 0, "M5", "M%d is in a native call and has a P", id);
            expect(gp != 0 && status(gp) == GStatus.GSYSCALL, "M5",
                    "M%d is in a native call and its goroutine in no system call", id);
        }
        long lockedg = M.lockedgOpaque(mp);
        expect(lockedg == 0 || G.lockedmOpaque(lockedg) == mp, "M6", "M%d is locked to a G that is not locked to it", id);
    }

    private void gs() {
        long[] live = new long[1];
        GStack own = GStack.current();
        s.slots.forEach(gp -> {
            int st = status(gp);
            require(legal(st), "G1", "a G has state %d", st);
            if (st == GStatus.GDEAD) {
                expect(place.containsKey(gp), "gfree", "a dead G (slot %d) is in no free list", G.index(gp));
                return;
            }
            if (!GStack.isSystem(gp)) {
                live[0]++;
            }
            if (st == GStatus.GRUNNABLE) {
                expect(place.containsKey(gp), "G3", "goroutine %d is runnable and in no queue", G.goid(gp));
            } else if (st == GStatus.GRUNNING) {
                require(own != null && own.gp == gp, "G2", "goroutine %d runs in a stopped world", G.goid(gp));
            } else if (st == GStatus.GSYSCALL) {
                inSyscall(gp); // It goes on while the world is stopped, until it wants a P.
            } else if (st == GStatus.GWAITING) {
                expect(G.mOpaque(gp) == 0, "G4", "goroutine %d waits and is on an M", G.goid(gp));
            }
            lockedToItsM(gp, st);
            GStack stack = (GStack) GSlots.stack(gp);
            expect((stack != null) == (G.hasstack(gp) != 0) && (stack == null || stack.gp == gp),
                    "stack", "goroutine %d and its stack do not belong together", G.goid(gp));
        });
        if (own != null && own.s == s) {
            triangle(own.gp);
        }
        expect(live[0] == Newproc.gcount(s), "gcount", "%d goroutines live, %d are counted", live[0], Newproc.gcount(s));
    }

    /** M4. */
    private void inSyscall(long gp) {
        long mp = G.mOpaque(gp);
        expect(mp != 0 && M.curgOpaque(mp) == gp && M.pOpaque(mp) == 0 || status(gp) != GStatus.GSYSCALL, "M4",
                "goroutine %d is in a system call and its M has a P", G.goid(gp));
    }

    /** M6, from the goroutine's side. */
    private void lockedToItsM(long gp, int status) {
        long lockedm = G.lockedmOpaque(gp);
        if (lockedm == 0) {
            return;
        }
        expect(M.lockedgOpaque(lockedm) == gp || G.lockedmOpaque(gp) != lockedm, "M6",
                "goroutine %d is locked to an M that is not locked to it", G.goid(gp));
        boolean on = status == GStatus.GRUNNING || status == GStatus.GSYSCALL;
        expect(!on || G.mOpaque(gp) == lockedm || status(gp) != status || G.lockedmOpaque(gp) != lockedm, "M6",
                "goroutine %d is locked to an M and runs on another", G.goid(gp));
    }

    private static boolean legal(int status) {
        return switch (status) {
            case GStatus.GRUNNABLE, GStatus.GRUNNING, GStatus.GSYSCALL, GStatus.GWAITING, GStatus.GDEAD,
                    GStatus.GPREEMPTED -> true;
            default -> false;
        };
    }

    /** G2, of a goroutine that does not move. */
    private void triangle(long gp) {
        long mp = G.mOpaque(gp);
        require(status(gp) == GStatus.GRUNNING && mp != 0 && M.curgOpaque(mp) == gp && M.pOpaque(mp) != 0
                && P.mOpaque(M.pOpaque(mp)) == mp, "G2", "goroutine %d runs and its triangle with M and P is broken",
                G.goid(gp));
    }

    private void localFree(long pp) {
        int n = 0;
        for (long gp = P.gfree(pp); gp != 0 && n <= P.gfreen(pp); gp = G.schedlink(gp)) {
            free(gp, "the free list of P" + P.id(pp));
            n++;
        }
        require(n == P.gfreen(pp), "gfree", "P%d: gfreen is %d, the list has %d", P.id(pp), P.gfreen(pp), n);
        Set<Long> sudogs = new HashSet<>();
        for (long sg = P.sudogcache(pp); sg != 0 && sudogs.size() <= P.sudogn(pp) && sudogs.add(sg);) {
            sg = Sudog.waitlink(sg);
        }
        require(sudogs.size() == P.sudogn(pp), "sudog", "P%d: sudogn is %d, the list has %d", P.id(pp), P.sudogn(pp),
                sudogs.size());
    }

    private void globalFree() {
        long n = 0;
        for (long gp = Schedt.gfree(sched); gp != 0 && n <= Schedt.gfreecountOpaque(sched); gp = G.schedlink(gp)) {
            free(gp, "sched.gfree");
            n++;
        }
        require(n == Schedt.gfreecountOpaque(sched), "gfree", "gfreecount is %d, the list has %d",
                Schedt.gfreecountOpaque(sched), n);
    }

    private void free(long gp, String where) {
        require(status(gp) == GStatus.GDEAD, "gfree", "a G in state %d is in " + where, status(gp));
        String other = place.put(gp, where);
        require(other == null, "gfree", "a G (slot %d) is in " + where + " and in " + other, G.index(gp));
    }

    // Under sched.lock, whether the world runs or not.

    private void locked(Runnable body) {
        GlobalRunq.lock(sched);
        try {
            body.run();
        } finally {
            GlobalRunq.unlock(sched);
        }
    }

    private void lists() {
        globalQueue();
        Set<Long> idleMs = new HashSet<>();
        for (long mp = Schedt.midle(sched); mp != 0 && idleMs.add(mp); mp = M.schedlink(mp)) {
            require(M.pOpaque(mp) == 0 && M.curgOpaque(mp) == 0, "M1", "M%d is idle and has a P or a goroutine", M.id(mp));
            require(M.spinningOpaque(mp) == 0, "M2", "M%d is idle and spins", M.id(mp));
        }
        require(idleMs.size() == Schedt.nmidleOpaque(sched), "M1", "nmidle is %d, the list has %d",
                Schedt.nmidleOpaque(sched), idleMs.size());
        Set<Long> idlePs = new HashSet<>();
        for (long pp = Schedt.pidle(sched); pp != 0 && idlePs.add(pp); pp = P.link(pp)) {
            int status = PStatus.get(pp);
            require(status == PStatus.PIDLE, status == PStatus.PSYSCALL ? "P3" : "P2", "P%d is in pidle in state %d",
                    P.id(pp), status);
            require(P.mOpaque(pp) == 0, "P2", "P%d is idle and has an M", P.id(pp));
            require(Runq.runqempty(pp), "P2", "P%d is idle and has work", P.id(pp));
        }
        require(idlePs.size() == Schedt.npidleVolatile(sched), "P2", "npidle is %d, the list has %d",
                Schedt.npidleVolatile(sched), idlePs.size());
        for (Processor pr : s.procs()) {
            require(Idle.maskRead(Schedt.idlepMaskAcquire(sched), P.id(pr.pp)) == idlePs.contains(pr.pp), "P6",
                    "P%d is in only one of idlepMask and pidle", P.id(pr.pp));
        }
        int spinning = Schedt.nmspinningVolatile(sched);
        // Go's own bound for one P is one: a lone M has to be able to look for work.
        int most = Math.max(1, Schedt.gomaxprocsOpaque(sched) / 2);
        require(spinning >= 0 && spinning <= most, "M7", "nmspinning is %d, with %d Ps", spinning,
                Schedt.gomaxprocsOpaque(sched));
    }

    private void globalQueue() {
        int size = Schedt.runqsizeOpaque(sched);
        int n = 0;
        long last = 0;
        Set<Long> seen = new HashSet<>();
        for (long gp = GlobalRunq.head(sched); gp != 0 && seen.add(gp); gp = G.schedlink(gp)) {
            require(status(gp) == GStatus.GRUNNABLE, "R7", "goroutine %d is in sched.runq in state %d", G.goid(gp),
                    status(gp));
            require(G.mOpaque(gp) == 0, "R7", "goroutine %d is in sched.runq and on an M", G.goid(gp));
            String other = place.put(gp, "sched.runq");
            require(other == null, "G3", "goroutine %d is in sched.runq and in " + other, G.goid(gp));
            last = gp;
            n++;
        }
        require(n == size, "R6", "runqsize is %d, the list has %d", size, n);
        require(last == GlobalRunq.tail(sched), "R7", "the last in sched.runq is not its tail");
    }

    // The world runs.

    private void flying() {
        locked(() -> {
            if (Schedt.closingAcquire(sched) == Scheduler.STOPPED) {
                return;
            }
            lists();
            int live = Schedt.gomaxprocsOpaque(sched);
            for (Processor pr : s.procs()) {
                if (P.id(pr.pp) >= live) {
                    deadP(pr.pp);
                }
                flyingP(pr.pp);
            }
            for (Machine m : s.machines()) {
                flyingM(m);
            }
        });
        GStack own = GStack.current();
        if (own != null && own.s == s) {
            triangle(own.gp);
        }
        s.slots.forEach(this::flyingG);
    }

    private void flyingG(long gp) {
        int status = status(gp);
        require(legal(status), "G1", "a G has state %d", status);
        if (status == GStatus.GRUNNING) {
            long mp = G.mOpaque(gp);
            expect(mp != 0 && M.curgOpaque(mp) == gp && M.pOpaque(mp) != 0 || status(gp) != status, "G2",
                    "goroutine %d runs and its triangle with M and P is broken", G.goid(gp));
        } else if (status == GStatus.GSYSCALL) {
            inSyscall(gp);
        }
        lockedToItsM(gp, status);
    }

    private void flyingP(long pp) {
        long id = P.id(pp);
        int head = Runq.head(pp);
        int n = Runq.tail(pp) - head;
        // With the head unmoved around the reading of the tail, the two are one state of the ring.
        require(Runq.head(pp) != head || n >= 0 && n <= Runq.LEN, "R1", "P%d: tail - head is %d, of %d", id, n, Runq.LEN);

        long switches = P.nswitchOpaque(pp) + P.ninplaceOpaque(pp);
        long next = Runq.runnext(pp);
        if (next != 0) {
            boolean runnable = status(next) == GStatus.GRUNNABLE;
            boolean still = Runq.runnext(pp) == next && switches == P.nswitchOpaque(pp) + P.ninplaceOpaque(pp);
            expect(runnable || !still, "R5", "runnext of P%d is not runnable", id);
        }
        long m = P.mOpaque(pp);
        int status = PStatus.get(pp);
        if (status == PStatus.PRUNNING) {
            expect(m != 0 && M.pOpaque(m) == pp, "P1", "P%d runs and its M does not know", id);
        } else if (status == PStatus.PIDLE) {
            expect(m == 0, "P2", "P%d is idle and has an M", id);
        } else if (status == PStatus.PSYSCALL) {
            leftInSyscall(pp);
        } else if (status == PStatus.PGCSTOP) {
            // Both change under the lock.
            require(Schedt.gcwaitingAcquire(sched) != 0, "P4", "P%d is stopped and the world is not", id);
        } else {
            require(id >= Schedt.gomaxprocsOpaque(sched), "P5", "P%d is dead and below gomaxprocs", id);
        }
        boolean bit = Idle.maskRead(Schedt.idlepMaskAcquire(sched), (int) id);
        expect(bit == (status == PStatus.PIDLE) || onTheWay(pp), "P6", "P%d is not as its bit in idlepMask says", id);
    }

    /** P3. */
    private void leftInSyscall(long pp) {
        long id = P.id(pp);
        int call = P.syscalltickOpaque(pp);
        expect(P.mOpaque(pp) == 0 || PStatus.get(pp) != PStatus.PSYSCALL, "P3", "P%d is in a system call and has an M", id);
        boolean left = false;
        for (Machine m : s.machines()) {
            left |= M.oldpOpaque(m.mp) == pp && M.pOpaque(m.mp) == 0;
        }
        expect(left || PStatus.get(pp) != PStatus.PSYSCALL, "P3", "P%d is in a system call and no M has left it", id);
        // One call, named by its number: sysmon is to take the P from it.
        expect(Runq.runqempty(pp) || PStatus.get(pp) != PStatus.PSYSCALL, "P3",
                "P%d is in system call %d and has work", id, call);
    }

    /** Whether the P was given to an M that has yet to wake. */
    private boolean onTheWay(long pp) {
        for (Machine m : s.machines()) {
            if (M.nextp(m.mp) == pp) {
                return true;
            }
        }
        return false;
    }

    private void flyingM(Machine m) {
        long mp = m.mp;
        long id = M.id(mp);
        expect(M.blockedOpaque(mp) == 0 || m.held == 0, "G5", "M%d sleeps and holds %d runtime locks", id, m.held);
        anyM(mp);
        if (M.spinningOpaque(mp) != 0) {
            long pp = M.pOpaque(mp);
            expect(pp != 0 || M.nextp(mp) != 0, "M2", "M%d spins without a P", id);
            expect(M.curgOpaque(mp) == 0, "M3", "M%d spins and runs a goroutine", id);
            expect(pp == 0 || Runq.runqempty(pp), "M3", "M%d spins and its P has work", id);
        }
    }
}
