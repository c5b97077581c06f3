// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.BitSet;
import java.util.List;

import org.gmp4j.config.Placement;
import org.gmp4j.events.Ev;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.StackSpace;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Checkdead;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * How Ms sleep, are woken, and end: {@code startm stopm handoffp stoplockedm startlockedm mexit}, and {@code acquirep releasep}.
 *
 * <p>An M gets its P before it is woken. The waker writes {@code nextp} and then wakes the note, and the M reads nextp after its sleep. The
 * note orders the two accesses, so they are plain.
 */
public final class Threads {
    /** A sleep shorter than this, in ns, counts in {@link Machine#inVain} unless the M then finds work. */
    private static final long SOON_NANOS = 100_000;
    /** The bytes of its used stack that a sleeping thread keeps. */
    private static final long KEPT_STACK = 256 << 10;

    /** The exception that ends an M's loop. There is one instance, without a stack trace. */
    static final class Exit extends RuntimeException {
        private static final long serialVersionUID = 1L;
        static final Exit INSTANCE = new Exit();

        private Exit() {
            super("M exits", null, false, false);
        }
    }

    private Threads() {
    }

    /** Attaches a P that is idle and in no list to the calling M (P1). */
    static void acquirep(Machine m, long pp) {
        if (M.P.get(m.mp) != 0 || M.NEXTP.get(m.mp) != 0 || M.INCGO.get(m.mp) != 0) {
            throw Throw.of("acquirep: already in go, or about to be, or in a native call");
        }
        if (P.M.get(pp) != 0 || PStatus.get(pp) != PStatus.PIDLE) {
            throw Throw.of("acquirep: invalid p state " + PStatus.name(PStatus.get(pp)));
        }
        M.attachP(m.mp, pp);
        P.M.setOpaque(pp, m.mp);
        m.lookForTrace(pp);
        if (m.trace != null) {
            m.trace.event(Ev.P_START, 0, M.ID.get(m.mp), 0);
        }
        Schedule.newSlice(m, pp); // Otherwise the G in runnext would inherit the P's last time slice.
        PStatus.set(pp, PStatus.PRUNNING);
        if (Schedt.SYSMONWAIT.getAcquire(m.s.sched) == Schedt.SYSMON_SLEEPS) {
            Note.ring(Schedt.sysmonnoteAddress(m.s.sched)); // Sysmon sleeps while no P runs, and has to watch this one.
        }
        pin(m, P.ID.get(pp));
    }

    /** Detaches the calling M's P and returns it. The P is idle then, and in no list. */
    static long releasep(Machine m) {
        long pp = m.pp();
        if (pp == 0 || P.M.get(pp) != m.mp || PStatus.get(pp) != PStatus.PRUNNING) {
            throw Throw.of("releasep: invalid arg");
        }
        if (m.trace != null) {
            m.trace.event(Ev.P_STOP, 0, M.ID.get(m.mp), 0);
        }
        P.M.setOpaque(pp, 0);
        M.detachP(m.mp);
        PStatus.set(pp, PStatus.PIDLE);
        return pp;
    }

    /**
     * Pins the calling thread to the CPUs that the policy gives to its P. Makes a system call only if the thread is not pinned to these
     * CPUs already. These CPUs may have gone offline, or the cpuset may have shrunk. If none of them is available, pins the thread to all
     * CPUs that the policy names. If none of those is available either, the thread's CPUs stay as they are.
     */
    private static void pin(Machine m, int id) {
        Placement placement = m.s.placement;
        List<BitSet> place = placement.sets();
        if (place.isEmpty()) {
            return;
        }
        int slot = placement.slot(id);
        if (m.pinnedTo != slot || m.pinnedBy != placement) {
            m.pinnedBy = placement;
            m.pinnedTo = slot; // Set even if the kernel refuses, so the next attempt comes only when the M's slot changes.
            try {
                if (runOn(place.get(slot))) {
                    M.CPU.set(m.mp, place.get(slot).nextSetBit(0));
                } else {
                    M.CPU.set(m.mp, -1);
                    BitSet any = new BitSet();
                    for (BitSet one : place) {
                        any.or(one); // Otherwise the thread would keep the CPUs of its last P, or of its starter.
                    }
                    boolean _ = runOn(any);
                }
            } catch (OutOfMemoryError e) {
                m.pinnedTo = -1; // The thread may be on the wrong CPUs. The next acquirep tries again.
            }
        }
    }

    private static boolean runOn(BitSet cpus) {
        try {
            Inheritance.place(cpus);
            return true;
        } catch (NativeException e) {
            return false;
        }
    }

    /**
     * Wakes an idle M, or makes a new one, to run a P.
     *
     * @param pp a P that is idle and in no list, or 0 to take one from the idle list (nothing happens when there is none)
     * @param spinning whether the caller has counted the M, which this method wakes or makes, as a spinner on its way
     */
    static void startm(Scheduler s, long pp, boolean spinning) {
        long sched = s.sched;
        SchedLock.lock(sched);
        if (pp == 0) {
            pp = Idle.pidleget(sched, System.nanoTime());
            if (pp == 0) {
                if (spinning) {
                    Wakep.dropOnItsWay(sched);
                }
                SchedLock.unlock(sched);
                return;
            }
        }
        long mp = Idle.mget(sched);
        SchedLock.unlock(sched);
        startm(s, mp, pp, spinning);
    }

    /** Wakes the M {@code mp}, which the caller has taken from the idle list, to run {@code pp}. Makes a new M if {@code mp} is 0. */
    static void startm(Scheduler s, long mp, long pp, boolean spinning) {
        if (mp == 0) {
            Newm.newm(s, pp, spinning);
            return;
        }
        if (M.SPINNING.getOpaque(mp) != 0 || M.NEXTP.get(mp) != 0) {
            throw Throw.of("startm: m is spinning or has p");
        }
        if (spinning && !Runq.runqempty(pp)) {
            throw Throw.of("startm: p has runnable gs");
        }
        Machine m = s.machine(mp);
        m.rung = System.nanoTime();
        if (spinning) {
            Wakep.startSpinning(m);
        }
        M.NEXTP.set(mp, pp);
        Note.wakeup(M.parkAddress(mp));
    }

    /** Acquires the P that this M was given when it was woken or made. */
    static void takeNextp(Machine m) {
        long pp = M.NEXTP.get(m.mp);
        M.NEXTP.set(m.mp, 0);
        acquirep(m, pp);
        m.hasStandIn = false;
        if (m.rung != 0) {
            PStat.WAKEUP.add(pp, System.nanoTime() - m.rung);
            m.rung = 0;
        }
        if (M.SPINNING.get(m.mp) != 0) {
            Wakep.begun(m);
        }
    }

    /** Sleeps on the idle list until a waker gives this M a P. Ends the M if the scheduler has ended. */
    static void stopm(Machine m) {
        Scheduler s = m.s;
        long sched = s.sched;
        if (m.held != 0 || m.pp() != 0 || !m.listed && M.SPINNING.get(m.mp) != 0) {
            throw Throw.of("stopm holding locks, p or spinning");
        }
        SchedLock.lock(sched);
        if (Schedt.CLOSING.getAcquire(sched) == Scheduler.STOPPED) {
            boolean taken = m.listed && !unlist(m);
            SchedLock.unlock(sched);
            if (!taken) {
                throw Exit.INSTANCE;
            }
            // The waker that has taken this M uses the M's struct until it has rung the note. The scheduler's end waits for this thread,
            // but not for the waker. So this thread must not end before the waker has finished.
            awaitP(m);
            return;
        }
        if (!m.listed) {
            Idle.mput(sched, m.mp);
        }
        m.listed = false;
        m.leftPoller = 0;
        boolean dead = Checkdead.dead(s);
        SchedLock.unlock(sched);
        if (dead) {
            Checkdead.suspect(s);
        }
        awaitP(m);
    }

    /**
     * Puts an M on the idle list after it has released its P and before its last check of the queues. Called under sched.lock. A thread
     * that needs an M during that check takes this M, which is awake. Otherwise the thread would wake another M. The kernel may place that
     * M on the waker's CPU, where it would wait although this M's CPU becomes idle.
     */
    static void list(Machine m) {
        m.listed = true;
        Idle.mput(m.s.sched, m.mp);
    }

    /**
     * Takes the calling M off the idle list. Called under sched.lock. Returns false when a waker has already taken the M off the list.
     * The waker then has a P for this M, and this M must call {@link #awaitP} next.
     */
    static boolean unlist(Machine m) {
        m.listed = false;
        return Idle.mremove(m.s.sched, m.mp);
    }

    /** Sleeps until the thread that took this M from the idle list has given it a P. Ends the M when the scheduler has ended. */
    static void awaitP(Machine m) {
        JdkThreads.idle(m);
        long start = System.nanoTime();
        mPark(m, m.s.config.idleNanos());
        m.inVain = System.nanoTime() - start < SOON_NANOS ? m.inVain + 1 : 0; // Schedule sets it to 0 when the M finds work.
        if (M.NEXTP.get(m.mp) == 0) {
            throw Exit.INSTANCE; // The close of the scheduler woke the M.
        }
        if (!m.begun) {
            Newm.begin(m);
        }
        takeNextp(m);
    }

    /**
     * Returns to the kernel the memory of the calling thread's stack that a deep recursion has left unused. Called before the M sleeps.
     * Makes one system call even if there is nothing to free.
     */
    public static void trimStack() {
        long _ = StackSpace.trim(KEPT_STACK);
    }

    /**
     * Sleeps until a thread wakes the M's note, and clears the note. An M on the idle list that was not woken for {@code nanos} ns
     * (negative: no limit) ends if the list has more Ms than there are Ps. Otherwise it sleeps on without a limit. So a service that is
     * idle from time to time makes no new threads, and the threads that stay do not wake up periodically. In Go an idle M never ends: the
     * threads of a burst of blocking calls stay.
     */
    private static void mPark(Machine m, long nanos) {
        long park = M.parkAddress(m.mp);
        M.BLOCKED.setOpaque(m.mp, 1);
        M.NSLEEP.addOpaque(m.mp, 1);
        trimStack();
        if (!Note.sleep(park, nanos)) {
            SchedLock.lock(m.s.sched);
            boolean unwanted = Schedt.NMIDLE.getOpaque(m.s.sched) > Schedt.GOMAXPROCS.getOpaque(m.s.sched)
                    && Idle.mremove(m.s.sched, m.mp);
            SchedLock.unlock(m.s.sched);
            if (unwanted) {
                M.BLOCKED.setOpaque(m.mp, 0);
                free(m);
                throw Exit.INSTANCE;
            }
            Note.sleep(park); // Either a waker has taken the M off the list and will ring the note, or the M stays on the list.
        }
        Note.clear(park);
        M.BLOCKED.setOpaque(m.mp, 0);
    }

    /** Hands the P of an M that blocks to another M if there may be work for the P. Otherwise puts the P on the idle list. */
    public static void handoffp(Scheduler s, long pp) {
        long sched = s.sched;
        if (!Runq.runqempty(pp) || Schedt.RUNQSIZE.getOpaque(sched) != 0) {
            startm(s, pp, false);
            return;
        }
        if (Schedt.nmspinningVolatile(sched) + Schedt.NPIDLE.getVolatile(sched) == 0 && Wakep.tryAddOnItsWay(sched, 0)) {
            Schedt.NEEDSPINNING.setVolatile(sched, 0);
            startm(s, pp, true);
            return;
        }
        SchedLock.lock(sched);
        if (Schedt.GCWAITING.getAcquire(sched) != 0) {
            StopTheWorld.stopped(s, pp);
            SchedLock.unlock(sched);
            return;
        }
        if (Schedt.RUNQSIZE.getOpaque(sched) != 0
                || Schedt.NPIDLE.getVolatile(sched) == Schedt.GOMAXPROCS.getOpaque(sched) - 1
                        && Schedt.LASTPOLL.getVolatile(sched) != 0) {
            SchedLock.unlock(sched);
            startm(s, pp, false); // There is global work, or the last busy P becomes idle and an M must watch timers and the network.
            return;
        }
        Idle.pidleput(sched, pp, System.nanoTime());
        SchedLock.unlock(sched);
        Wakep.wakepForWork(s); // A thread that has just queued work may have found no idle P, and so may have woken no M.
    }

    /**
     * Ensures that an M runs the timer that was added and is due at {@code when}. If an M sleeps in the poller and would sleep longer,
     * wakes that M. If no M sleeps in the poller, wakes another M.
     */
    public static void wakeNetPoller(Scheduler s, long when) {
        if (Schedt.LASTPOLL.getVolatile(s.sched) == 0) {
            long until = Schedt.POLLUNTIL.getVolatile(s.sched);
            if (until == 0 || until > when) {
                s.netpoll.wake(s);
            }
        } else {
            Wakep.wakep(s);
        }
    }

    /**
     * Does {@link #wakeNetPoller} for a timer of a goroutine that has just parked on {@code m}, but not before the M has found a G to run
     * ({@link Machine#untold}). Called on g0, with the timer on the M's P. Go wakes another M at once. That M then sleeps in the poller,
     * while the first M finds nothing to run and sleeps too.
     */
    public static void wakeNetPollerLater(Machine m, long when) {
        if (M.LOCKEDG.get(m.mp) != 0) {
            wakeNetPoller(m.s, when); // The M parks, and the next M of its P does not know of this timer.
        } else {
            m.untold = FindRunnable.earlier(m.untold, when);
        }
    }

    /** Hands the P of an M that is locked to a G to another M, and sleeps until the G is to run. Returns with a P. */
    static void stoplockedm(Machine m) {
        Scheduler s = m.s;
        if (m.pp() != 0) {
            handoffp(s, releasep(m));
        }
        incidlelocked(s, 1);
        mPark(m, -1);
        if (M.NEXTP.get(m.mp) == 0) {
            throw Throw.of("stoplockedm: not runnable");
        }
        takeNextp(m);
    }

    /** Hands this M's P to the M {@code lockedm}, which is locked to {@code gp}, and sleeps on the idle list. */
    static void startlockedm(Machine m, long gp, long lockedm) {
        if (lockedm == m.mp || M.NEXTP.get(lockedm) != 0) {
            throw Throw.of("startlockedm: locked to me, or m has p");
        }
        if (G.LOCKEDM.get(gp) != lockedm || M.LOCKEDG.getOpaque(lockedm) != gp) {
            throw Throw.of("startlockedm: g and m are not a pair");
        }
        incidlelocked(m.s, -1);
        m.s.machine(lockedm).rung = System.nanoTime();
        M.NEXTP.set(lockedm, releasep(m));
        Note.wakeup(M.parkAddress(lockedm));
        stopm(m);
    }

    /** {@code LockOSThread}: locks the calling goroutine and its M to each other. Calls nest. The caller is inside {@link GStack#enter}. */
    static void lockOSThread(GStack st) {
        Machine m = st.machine();
        m.wasLocked = true;
        M.LOCKEDEXT.set(m.mp, M.LOCKEDEXT.get(m.mp) + 1);
        M.LOCKEDG.setOpaque(m.mp, st.gp);
        G.LOCKEDM.setOpaque(st.gp, m.mp);
    }

    /** {@code UnlockOSThread}: undoes one {@link #lockOSThread}. Does nothing when there is none to undo. */
    static void unlockOSThread(GStack st) {
        Machine m = st.machine();
        int n = M.LOCKEDEXT.get(m.mp);
        if (n == 0) {
            return;
        }
        M.LOCKEDEXT.set(m.mp, n - 1);
        if (n == 1 && M.LOCKEDINT.get(m.mp) == 0) {
            M.LOCKEDG.setOpaque(m.mp, 0);
            G.LOCKEDM.setOpaque(st.gp, 0);
        }
    }

    /** Ends the calling M, on g0. If the M has a P, or can take its P back, the P goes to another M. */
    static void mexit(Machine m) {
        M.LOCKEDEXT.set(m.mp, 0);
        M.LOCKEDINT.set(m.mp, 0);
        M.LOCKEDG.setOpaque(m.mp, 0);
        if (m.pp() != 0 || Syscall.reacquire(m)) {
            handoffp(m.s, releasep(m));
        }
        free(m);
        throw Exit.INSTANCE;
    }

    /** Frees the struct of an M that ends while the scheduler lives, or for which no thread could be started. */
    static void free(Machine m) {
        Scheduler s = m.s;
        SchedLock.lock(s.sched);
        s.allm.free(m);
        boolean dead = Checkdead.dead(s);
        SchedLock.unlock(s.sched);
        if (dead) {
            Checkdead.suspect(s);
        }
    }

    private static void incidlelocked(Scheduler s, int v) {
        SchedLock.lock(s.sched);
        Schedt.NMIDLELOCKED.set(s.sched, Schedt.NMIDLELOCKED.get(s.sched) + v);
        boolean dead = v > 0 && Checkdead.dead(s);
        SchedLock.unlock(s.sched);
        if (dead) {
            Checkdead.suspect(s);
        }
    }
}
