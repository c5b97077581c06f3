// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.config.Quantum;
import org.gmp4j.policy.Pacing;
import org.gmp4j.policy.Scan;
import org.gmp4j.policy.Slice;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.Preempt;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.SliceClock;
import org.gmp4j.struct.G;
import org.gmp4j.struct.IntField;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;

/**
 * {@code retake}: sysmon scans each P. It takes the P from a system call, from a goroutine that sleeps in the kernel, or from a goroutine
 * that has used up its time slice.
 *
 * <pre>
 *  P                                work waits for the P       after                   action
 *  _Psyscall                        yes, or no P is idle and   the second scan of      CAS to _Pidle, handoffp
 *                                     no M spins                 the call
 *  _Psyscall, its slice is over     yes                        the first scan          CAS to _Pidle, handoffp
 *    by the clock
 *  _Psyscall                        no                         10 ms                   CAS to _Pidle, handoffp
 *  _Prunning, its thread sleeps     yes                        two scans               Gate or signal, then as _Psyscall
 *  _Prunning                        yes, but see below         the slice (CPU time)    g.preempt, points (ArmPoints)
 *  _Prunning, no point stops it     yes                        two slices (CPU time)   Gate or signal, then as _Psyscall
 * </pre>
 *
 * {@link Takeover} takes the P.
 *
 * <p>While an M spins or a P is idle, another M soon steals a G that is queued on a busy P. So the first G of the queue is a reason to
 * preempt only if two scans find it there. Otherwise a goroutine that computes would lose its P each time that it starts a short goroutine.
 * If a timer is due, or a G is in the global queue, one scan is enough.
 *
 * <p>{@link Slice} decides how long a goroutine keeps its P. A goroutine that runs on after its P was taken is a stray ({@link Strays}).
 * Its thread competes for a CPU like any other thread. At its next call of the runtime the goroutine waits for a P like any other
 * goroutine.
 *
 * <p>Rejected: to run strays at {@code SCHED_IDLE}, with weight 3 where other threads have 1,024. A stray that holds a lock would delay all
 * waiters of that lock while other threads have work. A stray in the JDK's code would delay safepoints while other processes want the CPUs.
 */
class Retake {
    private static final IntField SCHEDTICK = Struct.P.intField("sysmontick.schedtick");
    private static final IntField SYSCALLTICK = Struct.P.intField("sysmontick.syscalltick");
    private static final LongField SCHEDWHEN = Struct.P.longField("sysmontick.schedwhen");
    private static final LongField SYSCALLWHEN = Struct.P.longField("sysmontick.syscallwhen");

    private final Scheduler s;
    private long quantum;
    private long leastQuantum;
    /** The ns between two scans of a goroutine that has used up its slice and does not yield while work waits. */
    private long lookAgain;
    /** Whether goroutines yield only in calls of the runtime ({@code asyncpreemptoff}). */
    private final boolean cooperative;
    private final ThreadState threads = new ThreadState();
    private final ArmPoints points = new ArmPoints();
    private final Strays strays;
    private final Takeover takeover;
    /** The results of the last scan. */
    final Scan seen;
    /** Whether the scan found a goroutine that must reach a preemption point. */
    private boolean anyOver;
    /** The ns between the last two scans. */
    private long sinceLook;

    Retake(Scheduler s, Stalls stalls) {
        this.s = s;
        takeover = new Takeover(s, stalls);
        strays = new Strays(s, points);
        setQuantum(s.quantum);
        seen = new Scan(System.nanoTime(), quantum);
        cooperative = s.config.debug().asyncpreemptoff();
    }

    /** Sets the quantum for the next scans. */
    void setQuantum(Quantum q) {
        quantum = q.most();
        leastQuantum = q.least();
        lookAgain = Pacing.again(leastQuantum, quantum);
    }

    /** Returns whether a P is in a system call that no scan has seen yet. */
    boolean newSyscall() {
        for (Processor pr : s.procs()) {
            if (PStatus.get(pr.pp) == PStatus.PSYSCALL && P.SYSCALLTICK.getOpaque(pr.pp) != SYSCALLTICK.get(pr.pp)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Scans for strays only. Sysmon calls it when all Ps are idle, or while the world stops. While the world stops, it clears no switch and
     * disarms no point, because goroutines must stop at the points.
     */
    void lookForStrays(long now) {
        seen.noneRuns(now);
        strays.look(now);
        if (Schedt.GCWAITING.getAcquire(s.sched) == 0) {
            points.looked(strays.calling(), now);
        }
    }

    /** Returns whether the last scan for strays found one. */
    boolean anyStray() {
        return strays.any();
    }

    /** Returns whether sysmon is bringing a stray to a point. If so, it must scan again soon. */
    boolean callsStray() {
        return strays.calling();
    }

    /** Scans all Ps. Returns whether the scan found something to do. */
    boolean look(long now) {
        boolean took = false;
        sinceLook = seen.begin(now, quantum);
        long earlier = Slice.assumedAge(sinceLook, leastQuantum);
        anyOver = false;
        int procs = Schedt.GOMAXPROCS.getOpaque(s.sched);
        Processor[] all = s.procs();
        for (int i = 0; i < Math.min(procs, all.length); i++) {
            Processor pr = all[i];
            long pp = pr.pp;
            int status = PStatus.get(pp);
            if (status != PStatus.PRUNNING && status != PStatus.PSYSCALL) {
                continue;
            }
            seen.busy = true;
            int tick = P.SCHEDTICK.getOpaque(pp);
            int slices = tick - SCHEDTICK.get(pp);
            if (slices != 0) {
                SCHEDTICK.set(pp, tick);
                SCHEDWHEN.set(pp, began(pp, tick, now - earlier));
            }
            try {
                took |= look(pr, status, slices, now);
            } catch (OutOfMemoryError e) {
                took = true; // The other Ps may need less memory. Sysmon scans this P again soon.
            }
        }
        seen.suspected = threads.suspected();
        strays.look(now);
        points.looked(anyOver || strays.calling(), now);
        return took;
    }

    private boolean look(Processor pr, int status, int slices, long now) {
        long pp = pr.pp;
        boolean waits = work(pp, now);
        long slice = waits ? slice(pp) : quantum; // Without waiting work there is no reason for short slices.
        GlobalTurn.look(s.sched, pp, slice, now);
        if (status == PStatus.PSYSCALL) {
            seen.inSyscall = true;
            return Takeover.answered(pr) ? takeover.finish(pr) : syscall(pp, waits, now, SCHEDWHEN.get(pp) + slice);
        }
        boolean comes = WatchedP.of(pr).changed(pp) && others() > 0 && !waitsElsewhere(pp, now);
        seen.workWaits |= waits;
        long mp = P.M.getOpaque(pp);
        long again = lookAgain;
        if (mp != 0) {
            Machine m = s.machine(mp);
            WatchedM w = WatchedM.of(m);
            w.began(SliceClock.slice(pp, SCHEDTICK.get(pp)), now - SCHEDWHEN.get(pp), cpuTime(m, now));
            SliceClock clock = m.slices;
            if (slices == 0 && waits) {
                clock.ranOn(now);
            }
            seen.exact &= clock.look(now, slices, sinceLook);
            again = Pacing.untilUsed(slice - w.used(), w.hadCpu(sinceLook), lookAgain);
            SliceClock.keepBothCompiled(pp);
        }
        seen.shortestSlice = Math.min(seen.shortestSlice, slice);
        long over = SCHEDWHEN.get(pp) + slice;
        if (over > now) {
            seen.endsAt(over);
        } else { // The next scan checks whether the slice is used up, the goroutine has yielded, or work has come for the P.
            boolean calm = Schedt.NPIDLE.getVolatile(s.sched) > 0 && !seen.tookFromSleeper();
            seen.endsAt(now + (waits ? again : Pacing.alone(calm, quantum)));
        }
        return waits && running(pr, comes, now, now - SCHEDWHEN.get(pp), slice);
    }

    /** Returns the thread's CPU time, ns. If it cannot be read, returns {@code now}, as if the thread always had a CPU. */
    long cpuTime(Machine m, long now) {
        long cpu = ThreadState.cpuNanos(m);
        return cpu == 0 ? now : cpu;
    }

    /**
     * Returns the time slice, ns, of a goroutine while Gs wait for its P. The more Gs wait, the shorter is the slice, down to the least
     * quantum.
     */
    private long slice(long pp) {
        if (leastQuantum == quantum) {
            return quantum;
        }
        int own = Runq.size(pp) + (Runq.runnext(pp) == 0 ? 0 : 1);
        int waiting = Slice.waiting(own, Schedt.RUNQSIZE.getOpaque(s.sched), Schedt.GOMAXPROCS.getOpaque(s.sched));
        return Slice.length(leastQuantum, quantum, waiting);
    }

    private long began(long pp, int tick, long estimate) {
        long mp = P.M.getOpaque(pp);
        return mp == 0 ? estimate : s.machine(mp).slices.began(SliceClock.slice(pp, tick), estimate);
    }

    /** Returns whether a G or a due timer waits for this P. */
    private boolean work(long pp, long now) {
        return !Runq.runqempty(pp) || waitsElsewhere(pp, now);
    }

    /** Returns whether a timer of the P is due, or a G is in the global queue. How long they have waited is unknown. */
    private boolean waitsElsewhere(long pp, long now) {
        long when = P.TIMER0WHEN.getAcquire(pp);
        return when != 0 && when <= now || Schedt.RUNQSIZE.getOpaque(s.sched) > 0;
    }

    /** Returns the number of spinning Ms plus the number of idle Ps. Each of them can take work that waits. */
    private int others() {
        return Schedt.nmspinningVolatile(s.sched) + Schedt.NPIDLE.getVolatile(s.sched);
    }

    /**
     * Takes the P from a system call, from the second scan of the call on, or at the first if work waits and the slice is over. Returns
     * whether it took the P.
     */
    private boolean syscall(long pp, boolean waits, long now, long over) {
        int tick = P.SYSCALLTICK.getOpaque(pp);
        if (SYSCALLTICK.get(pp) != tick) {
            SYSCALLTICK.set(pp, tick);
            SYSCALLWHEN.set(pp, now);
            seen.workWaits |= waits;
            if (!waits) {
                return false;
            }
            if (now >= over && takeover.fromCall(pp, false)) {
                return true;
            }
            seen.endsAt(Math.max(over, now + lookAgain));
            return false;
        }
        if (Slice.keepsInCall(waits, others(), now - SYSCALLWHEN.get(pp)) || !takeover.fromCall(pp, true)) {
            return false;
        }
        seen.takesFromSyscall();
        return true;
    }

    /** Asks a goroutine to yield, or takes its P, while work waits for the P. Returns whether sysmon is to scan again soon. */
    private boolean running(Processor pr, boolean comes, long now, long age, long slice) {
        long pp = pr.pp;
        long mp = P.M.getOpaque(pp);
        if (mp == 0) {
            return false;
        }
        int tick = P.SCHEDTICK.getOpaque(pp);
        if (Takeover.unanswered(pr, mp, tick, now)) {
            anyOver |= age >= slice;
            seen.awaits(Pacing.untilReleased(now - WatchedP.of(pr).asked));
            return false; // The thread waits for a CPU or a disk, or blocks signals. Another signal would not help.
        }
        Machine m = s.machine(mp);
        WatchedM w = WatchedM.of(m);
        if (!w.isIn(SliceClock.slice(pp, tick))) {
            return false; // Sysmon had lost its CPU, and another slice has begun, or another M has the P.
        }
        if (threads.asleep(m, now)) {
            if (!takeover.fromThread(pr, mp, tick, false)) {
                return false;
            }
            seen.takesFromSleeper();
            return true;
        }
        boolean told = w.preempted == SliceClock.slice(pp, tick);
        if (Slice.runsOn(Slice.isOver(w.used(), slice), comes, told)) {
            return false;
        }
        anyOver = !cooperative;
        long gp = M.CURG.getOpaque(mp);
        if (!told || gp == 0 || G.PREEMPT.getOpaque(gp) == 0) {
            // This is the first request in this slice. Or the goroutine that was asked has parked before it saw the request, and another
            // goroutine has inherited the slice.
            w.preempted = SliceClock.slice(pp, tick);
            if (gp != 0) {
                w.overrun.forget();
                SchedStat.NTOLD.addOpaque(s.sched, 1);
            }
            boolean _ = Preempt.preemptone(pp);
        }
        if (cooperative) {
            return false; // The goroutine yields when it calls the runtime.
        }
        if (M.LOCKS.getOpaque(mp) != 0) {
            seen.endsAt(now + Pacing.PROMPT);
            // The goroutine is inside the runtime. It checks g.preempt when it leaves the runtime, or gives its P up before. If points
            // were armed now, the next goroutine on the P would check in vain at each point.
            return false;
        }
        if (w.awaited != SliceClock.slice(pp, tick)) {
            w.awaited = SliceClock.slice(pp, tick);
            w.awaitedSince = now;
        }
        boolean helps = points.overran(m, SliceClock.slice(pp, tick));
        if (P.SCHEDTICK.getOpaque(pp) != tick) {
            ArmPoints.gone(); // Sysmon had lost its CPU, and the slice has ended.
            return false;
        }
        if (helps) {
            // The time counts from the first scan in this slice that awaits a point, not from the slice's end. A goroutine that ran alone
            // is asked to yield only when work comes.
            seen.awaits(Pacing.untilPoint(now - w.awaitedSince, w.overrun.prompt()));
            return false;
        }
        return Slice.losesP(w.used(), slice) && takeover.fromThread(pr, mp, tick, !ThreadState.slept(m));
    }

    /**
     * Ends this scheduler's requests for points. Sysmon calls it at its end. If it throws OutOfMemoryError, it has changed nothing, and
     * sysmon calls it again.
     */
    void close() {
        points.close();
    }
}
