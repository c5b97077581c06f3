// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.ffi.gmp.p;
import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Preempt;
import org.gmp4j.proc.Processor;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.SliceClock;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.IntField;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;

/**
 * {@code retake}: sysmon's look at each P, to take it from a system call, from a goroutine that sleeps in the kernel, and
 * from one that has had its time slice.
 *
 * <pre>
 *  P                                   work waits for it    after                  what
 *  _Psyscall                           yes, or nobody idle  one tick               CAS to _Pidle, handoffp
 *  _Psyscall, its slice is over        yes                  at once                the same
 *  _Psyscall                           no                   10 ms                  the same
 *  _Prunning, thread asleep            yes                  two looks              handoff, then the same
 *  _Prunning                           yes (but see below)  the quantum            g.preempt, points (ArmPoints)
 *  _Prunning, no point stops it        yes                  the quantum in CPU     handoff, then the same
 *                                                             time of its thread
 * </pre>
 *
 * How a P is taken is {@link Takeover}'s part.
 *
 * <p>What a goroutine that has had its quantum queues is no reason to stop it as long as an M searches or a P is idle: it will run there,
 * some 30 µs later. So then what is first in the queue counts from the second look at it on, unless a timer is due or a G is in the global
 * queue. Without this a goroutine that computed, and
 * started one of a few instructions each 0.2 ms, lost its P some 30 times a second, and those that it had started ran late: p99 of 156
 * to 208 µs, afterwards 83 to 152.
 *
 * <p>A goroutine that runs on without its P is a stray ({@link Strays}). Its thread competes for a CPU as any other does, and the
 * goroutine waits for a P as any other when it next calls the runtime. To keep strays few, a goroutine that no point stops keeps its P
 * the longer, the more strays run: twice as long for each stray a CPU, doubled at most {@value #MAX_DOUBLINGS} times. Of n goroutines
 * that never end, on one CPU, all would be strays after n quanta otherwise; with this rule about log n are. A fixed bound on strays
 * would keep the others waiting for ever once it is reached.
 *
 * <p>Rejected: strays at {@code SCHED_IDLE}, weight 3 where others have 1,024. A stray that holds a lock keeps all that want it
 * waiting for as long as the others have work: a sort of 0.33 s under a monitor was not done after 40 s. A stray in the JDK's code
 * keeps a safepoint waiting when other processes want the CPUs: 1.3 s.
 */
final class Retake {
    private static final long SYSCALL_NANOS = 10_000_000;
    /** A slice is taken to have begun before the look that first saw it, but by no more than this and a quarter of a quantum. */
    private static final long MAX_EARLIER = 250_000;
    /**
     * Where sysmon shares a CPU with a goroutine that has had its quantum, a look costs that CPU 30 to 40 µs, though sysmon itself needs 3:
     * two switches, and cold caches after them.
     */
    private static final long MIN_LOOK_AGAIN = 250_000;
    /** The most between two looks at such a one while a P is idle. */
    private static final long CALM = 1_000_000;

    /** How often the time for which a goroutine that no point stops keeps its P is doubled at most: once for each stray a CPU. */
    private static final int MAX_DOUBLINGS = 6;
    /** For this long a goroutine that was told to yield is looked at as often as sysmon can. After that it may well wait for a CPU. */
    private static final long LOOK_CLOSELY = 500_000;
    /**
     * After this long sysmon checks a goroutine on an M whose last one came to a point by itself. Sooner would be a look for nothing after
     * each slice that ends. With a quantum of 200 µs the next slice may be over by then: it lasts some 50 µs longer.
     */
    private static final long TRUSTED = 250_000;
    /** After this long, or as soon as fairSleep allows, it looks again at one that is inside the runtime, which ends by itself. */
    private static final long PROMPT = 50_000;
    /** For this long after a P was taken from a system call, or from a thread asleep, another such is expected. */
    private static final long TOOK_FROM_SYSCALL = 20_000_000;
    private static final long TOOK_FROM_SLEEPER = 1_000_000_000;

    private static final IntField SCHEDTICK = Mem.intField(p.layout(), "sysmontick", "schedtick");
    private static final IntField SYSCALLTICK = Mem.intField(p.layout(), "sysmontick", "syscalltick");
    private static final LongField SCHEDWHEN = Mem.longField(p.layout(), "sysmontick", "schedwhen");
    private static final LongField SYSCALLWHEN = Mem.longField(p.layout(), "sysmontick", "syscallwhen");

    private final Scheduler s;
    private final long quantum;
    private final long leastQuantum;
    /** How soon it looks again at a goroutine that has had its slice and does not yield. */
    private final long lookAgain;
    /** Whether a goroutine that runs is left to yield by itself: asyncpreemptoff. */
    private final boolean cooperative;
    private final ThreadState threads = new ThreadState();
    private final ArmPoints points = new ArmPoints();
    private final Strays strays;
    private final Takeover takeover;
    private boolean workWaits;
    private boolean busy;
    private boolean anyOver;
    /** How soon one of the goroutines that were told to yield should have come to a point. */
    private long awaited;
    /** Whether it is known of all that run when their slices began. */
    private boolean exact;
    /** Whether a thread was seen asleep that was not at the look before. */
    private boolean suspected;
    /** Whether a P was in a system call; when one was last taken from there, and from a thread asleep. */
    private boolean inSyscall;
    private long tookFromSyscall = System.nanoTime() - TOOK_FROM_SYSCALL;
    private long tookFromSleeper = System.nanoTime() - TOOK_FROM_SLEEPER;
    /**
     * When the last look was, and how long after the one before; and when the first of the goroutines whose Ps have work waiting will
     * have had its quantum.
     */
    private long lastLook = System.nanoTime(); // Nothing was taken lately.
    private long sinceLook;
    private long firstOver;
    private long shortestSlice;

    Retake(Scheduler s, Stalls stalls) {
        this.s = s;
        takeover = new Takeover(s, stalls);
        strays = new Strays(s, points);
        quantum = s.config.quantumNanos();
        leastQuantum = s.config.leastQuantumNanos();
        shortestSlice = quantum;
        lookAgain = lookAgain(leastQuantum, quantum);
        cooperative = s.config.debug().asyncpreemptoff();
    }

    /** Whether at the last look a P had work waiting: sysmon must look again soon. */
    boolean workWaits() {
        return workWaits;
    }

    /** Whether at the last look a P ran a goroutine. */
    boolean busy() {
        return busy;
    }

    /**
     * Nanoseconds from {@code now} until a goroutine will have had its quantum, or a part of one if it has had it and nobody waits.
     * 0 for {@value #LOOK_CLOSELY} ns after one was told to yield, or a little more if it came to a point by itself the last time: what
     * makes it yield slows others down until sysmon sees that it did.
     */
    long untilOver(long now) {
        long until = firstOver == Long.MAX_VALUE ? firstOver : Math.max(0, firstOver - now);
        return Math.min(until, awaited);
    }

    /** Whether {@link #untilOver} can be relied on: where it is not known when a slice began, sysmon looks several times in each. */
    boolean exact() {
        return exact;
    }

    /** The shortest of the time slices of Ps for which work waited at the last look; the quantum where none did. */
    long shortestSlice() {
        return shortestSlice;
    }

    /** Whether at the last look a thread that others wait for seemed to sleep in the kernel: the second look decides. */
    boolean suspected() {
        return suspected;
    }

    /** Whether a P was in a system call at the last look. */
    boolean inSyscall() {
        return inSyscall;
    }

    /** Whether a P is in a system call that no look has seen yet. */
    boolean newSyscall() {
        for (Processor pr : s.procs()) {
            if (PStatus.get(pr.pp) == PStatus.PSYSCALL && P.SYSCALLTICK.getOpaque(pr.pp) != SYSCALLTICK.get(pr.pp)) {
                return true;
            }
        }
        return false;
    }

    /** Whether one was taken from a system call lately. */
    boolean tookFromSyscall() {
        return lastLook - tookFromSyscall < TOOK_FROM_SYSCALL;
    }

    /** Whether one was taken from a thread asleep lately. */
    boolean tookFromSleeper() {
        return lastLook - tookFromSleeper < TOOK_FROM_SLEEPER;
    }

    /** A look when all Ps are idle, or the world stops. Points that are armed stay armed: goroutines that are to stop need them. */
    void lookForStrays(long now) {
        busy = false; // No goroutine was seen to run.
        workWaits = false;
        inSyscall = false;
        strays.look(now);
        if (Schedt.GCWAITING.getAcquire(s.sched) == 0) {
            points.looked(strays.calling(), now);
        }
    }

    /** Whether there was a stray at the last look for them. */
    boolean anyStray() {
        return strays.any();
    }

    /** Whether a stray is being brought to a point: sysmon must look again soon. */
    boolean callsStray() {
        return strays.calling();
    }

    /** One look at all Ps; whether there was something to do. */
    boolean look(long now) {
        boolean took = false;
        // A new slice began since the last look, half the time ago on average.
        sinceLook = now - lastLook;
        long earlier = Math.min(sinceLook / 2, Math.min(MAX_EARLIER, leastQuantum / 4));
        lastLook = now;
        firstOver = Long.MAX_VALUE;
        workWaits = false;
        busy = false;
        inSyscall = false;
        anyOver = false;
        awaited = Long.MAX_VALUE;
        exact = true;
        shortestSlice = quantum;
        int procs = Schedt.GOMAXPROCS.getOpaque(s.sched);
        Processor[] all = s.procs();
        for (int i = 0; i < Math.min(procs, all.length); i++) {
            Processor pr = all[i];
            long pp = pr.pp;
            int status = PStatus.get(pp);
            if (status != PStatus.PRUNNING && status != PStatus.PSYSCALL) {
                continue;
            }
            busy = true;
            int tick = P.SCHEDTICK.getOpaque(pp);
            int slices = tick - SCHEDTICK.get(pp);
            if (slices != 0) {
                SCHEDTICK.set(pp, tick);
                SCHEDWHEN.set(pp, began(pp, tick, now - earlier));
            }
            try {
                took |= look(pr, status, slices, now);
            } catch (OutOfMemoryError e) {
                took = true; // There may be memory enough for the other Ps; at this one sysmon looks again soon.
            }
        }
        suspected = threads.suspected();
        strays.look(now);
        points.looked(anyOver || strays.calling(), now);
        return took;
    }

    private boolean look(Processor pr, int status, int slices, long now) {
        long pp = pr.pp;
        boolean same = slices == 0;
        boolean waits = work(pp, now);
        long slice = waits ? slice(pp) : quantum; // Nobody loses while none waits: no reason to look often.
        GlobalTurn.look(s.sched, pr, slice, now);
        if (status == PStatus.PSYSCALL) {
            inSyscall = true;
            return Takeover.answered(pr) ? takeover.finish(pr) : syscall(pp, waits, now, SCHEDWHEN.get(pp) + slice);
        }
        boolean comes = Request.of(pr).changed(pp) && anotherComes() && !waitsElsewhere(pp, now);
        workWaits |= waits;
        long mp = P.M.getOpaque(pp);
        if (mp != 0) {
            Machine m = s.machine(mp);
            WatchedM.of(m).began(m, SliceClock.slice(pp, SCHEDTICK.get(pp)), now - SCHEDWHEN.get(pp), now);
            SliceClock clock = m.slices;
            if (same && waits) {
                clock.ranOn(now);
            }
            exact &= clock.look(now, slices, sinceLook);
            SliceClock.keepBothCompiled(pp);
        }
        shortestSlice = Math.min(shortestSlice, slice);
        long over = SCHEDWHEN.get(pp) + slice;
        if (over > now) {
            firstOver = Math.min(firstOver, over);
        } else { // It has not yielded, or somebody waits by then.
            boolean calm = Schedt.NPIDLE.getVolatile(s.sched) > 0 && !tookFromSleeper();
            firstOver = Math.min(firstOver, now + (waits ? lookAgain : lookAlone(calm, quantum)));
        }
        return (same || over <= now) && waits && running(pr, comes, now, now - SCHEDWHEN.get(pp), slice);
    }

    /**
     * How soon sysmon looks again at a goroutine that has had its quantum while nothing waits for its P.
     *
     * @param calm what comes runs on an idle P. But another goroutine may take that P meanwhile and keep it, or fall asleep with it; then
     *     what comes next waits until the look: therefore no longer than a millisecond, or than a quarter of a quantum
     */
    static long lookAlone(boolean calm, long quantum) {
        long usual = Math.min(quantum, Math.max(quantum / Sysmon.BUSY_LOOKS, MIN_LOOK_AGAIN));
        return calm ? Math.max(usual, Math.clamp(quantum, Sysmon.WORK_SLEEP, CALM)) : usual;
    }

    /** The same while something waits for its P. */
    static long lookAgain(long least, long quantum) {
        return Math.max(MIN_LOOK_AGAIN, Math.min(least, lookAlone(false, quantum)));
    }

    /** How long a goroutine may run while others wait for its P: shorter the more there are, if that is wanted. */
    private long slice(long pp) {
        if (leastQuantum == quantum) {
            return quantum;
        }
        int procs = Math.max(1, Schedt.GOMAXPROCS.getOpaque(s.sched));
        return slice(leastQuantum, quantum, Runq.size(pp) + (Runq.runnext(pp) == 0 ? 0 : 1) + Schedt.RUNQSIZE.getOpaque(s.sched) / procs);
    }

    /** The same where {@code waiting} wait: all have a turn within {@code most}, unless they are too many for the least slice. */
    static long slice(long least, long most, int waiting) {
        return Math.max(least, most / Math.max(1, waiting));
    }

    private long began(long pp, int tick, long estimate) {
        long mp = P.M.getOpaque(pp);
        return mp == 0 ? estimate : s.machine(mp).slices.began(SliceClock.slice(pp, tick), estimate);
    }

    /** Whether anything could run on this P. */
    private boolean work(long pp, long now) {
        return !Runq.runqempty(pp) || waitsElsewhere(pp, now);
    }

    /** Whether a timer of the P is due, or a G is in the global queue: for how long is not known. */
    private boolean waitsElsewhere(long pp, long now) {
        long when = P.TIMER0WHEN.getAcquire(pp);
        return when != 0 && when <= now || Schedt.RUNQSIZE.getOpaque(s.sched) > 0;
    }

    /** Whether an M searches, or is woken as soon as there is work. */
    private boolean anotherComes() {
        return Schedt.nmspinningVolatile(s.sched) + Schedt.NPIDLE.getVolatile(s.sched) > 0;
    }

    /** A call has its P taken at the second look at it; at the first if the goroutine's slice is over. */
    private boolean syscall(long pp, boolean waits, long now, long over) {
        int tick = P.SYSCALLTICK.getOpaque(pp);
        if (SYSCALLTICK.get(pp) != tick) {
            SYSCALLTICK.set(pp, tick);
            SYSCALLWHEN.set(pp, now);
            workWaits |= waits;
            if (!waits) {
                return false;
            }
            if (now >= over && takeover.fromCall(pp, false)) {
                return true;
            }
            firstOver = Math.min(firstOver, Math.max(over, now + lookAgain));
            return false;
        }
        // With nothing to run and others idle or searching, leave the P where it will soon be wanted.
        if (!waits && Schedt.nmspinningVolatile(s.sched) + Schedt.NPIDLE.getVolatile(s.sched) > 0
                && now - SYSCALLWHEN.get(pp) < SYSCALL_NANOS) {
            return false;
        }
        if (!takeover.fromCall(pp, true)) {
            return false;
        }
        tookFromSyscall = now;
        return true;
    }

    /** Of a goroutine for whose P work waits. Who was told to yield is watched until it does, whatever comes meanwhile. */
    static boolean mayRunOn(boolean over, boolean comes, boolean told) {
        return !over || comes && !told;
    }

    private boolean running(Processor pr, boolean comes, long now, long age, long slice) {
        long pp = pr.pp;
        long mp = P.M.getOpaque(pp);
        if (mp == 0) {
            return false;
        }
        int tick = P.SCHEDTICK.getOpaque(pp);
        if (Takeover.unanswered(pr, mp, tick, now)) {
            anyOver |= age >= slice;
            if (now - Request.of(pr).asked < LOOK_CLOSELY) {
                awaited = Math.min(awaited, PROMPT); // The P is nobody's once the handler has left it.
            }
            return false; // It waits for a CPU, for a disk, or has signals blocked: another signal would not help.
        }
        Machine m = s.machine(mp);
        WatchedM w = WatchedM.of(m);
        if (!w.isIn(SliceClock.slice(pp, tick))) {
            return false; // Sysmon had lost its CPU: another slice has begun, or another M has the P.
        }
        if (threads.asleep(m, now)) {
            if (!takeover.fromThread(pr, mp, tick, false)) {
                return false;
            }
            tookFromSleeper = now;
            return true;
        }
        boolean told = w.preempted == SliceClock.slice(pp, tick);
        if (mayRunOn(age >= slice, comes, told)) {
            return false;
        }
        anyOver = !cooperative;
        long gp = M.CURG.getOpaque(mp);
        if (!told || gp == 0 || G.PREEMPT.getOpaque(gp) == 0) {
            // The first time; or the one that was told has parked before it looked, and another runs on what is left of the
            // slice, which is nothing.
            w.preempted = SliceClock.slice(pp, tick);
            if (gp != 0) {
                w.overrun.forget();
                SchedStat.NTOLD.addOpaque(s.sched, 1);
            }
            boolean _ = Preempt.preemptone(pp);
        }
        if (cooperative) {
            return false; // It yields where it calls the runtime.
        }
        if (M.LOCKS.getOpaque(mp) != 0) {
            awaited = Math.min(awaited, PROMPT);
            return false; // It checks g.preempt as it leaves the runtime; or it gives its P to another, which would pass points in vain.
        }
        if (w.awaited != SliceClock.slice(pp, tick)) {
            w.awaited = SliceClock.slice(pp, tick);
            w.awaitedSince = now;
        }
        boolean helps = points.overran(m, SliceClock.slice(pp, tick));
        if (P.SCHEDTICK.getOpaque(pp) != tick) {
            ArmPoints.gone(); // Sysmon had lost its CPU.
            return false;
        }
        if (helps) {
            if (now - w.awaitedSince < LOOK_CLOSELY) { // Not its age: work may have come for one that ran alone for long.
                awaited = w.overrun.prompt() ? Math.min(awaited, TRUSTED) : 0;
            }
            return false;
        }
        return patient(w, m, SliceClock.slice(pp, tick), now, age, slice)
                ? false : takeover.fromThread(pr, mp, tick, !ThreadState.slept(m));
    }

    /**
     * Whether a goroutine that no point stops keeps its P: until its thread has had a CPU for a slice, and {@link #patience} is over. Where
     * the thread waits for a CPU behind other threads, to take its P would add one more to them, and bring no goroutine further.
     *
     * @param name the time slice
     */
    boolean patient(WatchedM w, Machine m, long name, long now, long age, long slice) {
        if (w.takenSlice != name) {
            w.takenSlice = name;
            w.takenAt = now - age + patience(slice, strays.running(), Runtime.getRuntime().availableProcessors());
        }
        return now < w.takenAt || WatchedM.cpu(m, now) < w.beganCpu + slice;
    }

    /** How long a goroutine that no point stops keeps its P at least, while {@code strays} run without one and want CPUs too. */
    static long patience(long slice, int strays, int cpus) {
        return slice << Math.min(strays / cpus, MAX_DOUBLINGS);
    }

    /** Ends sysmon's part. Without memory nothing has happened yet. */
    void close() {
        points.close();
    }
}
