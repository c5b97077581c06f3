// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.upkeep;

import java.lang.invoke.VarHandle;
import java.util.function.LongPredicate;

import org.gmp4j.config.DebugVars;
import org.gmp4j.print.Stderr;
import org.gmp4j.sched.base.Checkdead;
import org.gmp4j.sched.base.Gcount;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Bystanders;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Sysmon's check for a deadlock ({@link Checkdead}). Sysmon makes it now and then, for deadlocks that arise while no M goes to sleep. An M
 * may spin for ever ({@code SpinPolicy.busy}), or a plain thread may leave a blocking call of the runtime after the last M fell asleep.
 *
 * <p>{@link #look} is correct although goroutines and Ms run meanwhile. It reads in this order: the number of goroutine runs (c0); every G
 * (pass 1); every M; everything outside, and the timers under their locks; every G (pass 2); the number of runs (c1); whether the world is
 * to stop, and the time of the last procresize, which may have moved timers. (Between c0 and pass 1 it also reads everything outside and
 * the Ms, because these reads are cheap, and usually end the check: some M runs a goroutine.) It reports if both passes found every living
 * G waiting, every M asleep or spinning, nothing outside, no timer set, c0 = c1, and no procresize meanwhile. Suppose a G was runnable or
 * running at a moment t between the read of the Ms and pass 2. Pass 2 saw the G waiting or dead, so its run ended after t. A run begins
 * with a CAS on the status, is then counted, and ends with a CAS. So c1 includes this run. As c0 = c1, c0 includes it too, so the run began
 * before pass 1. Pass 1 did not see the G run, so it saw the G wait while its M was still parking it. At the read of the Ms, that M either
 * was still parking the G, and so neither slept nor spun, or it had finished, and the run was over before t. Each is a contradiction.
 *
 * <p>So at t all Gs waited, their parks were complete and their timers were in the heaps. An M that spins readies a G only for a timer or
 * for C code. The timer counts as set until the M has readied the G. C code counts as outside until the G has run. So nothing is left that
 * could ready a G, at t or later.
 *
 * <p>The search for bystanders comes before pass 1. A bystander that has ended before the search may have readied a goroutine, which the
 * later reads see. If the search finds no bystander, none appears later, because only a bystander or a goroutine can create one. While
 * there is a bystander, the report is held off. The next search comes after a quarter of the time for which the report has been held off,
 * at least {@link #LEAST_HOLD} and at most {@link #MOST_HOLD}. (The end of a thread notifies no other thread, and a wait for it would need
 * another thread.) The first search that finds no bystander also holds the report off, for {@link #LEAST_HOLD}, because it may have missed
 * a bystander that began while another ended.
 */
final class DeadlockSearch implements LongPredicate {
    private static final long LEAST_HOLD = 10_000_000;
    private static final long MOST_HOLD = 1_000_000_000;
    /** The next search for bystanders comes after the time for which the report has been held off, divided by this number. */
    private static final int HOLD_PART = 4;

    // The fields are sysmon's.
    private final Scheduler s;
    private final Bystanders bystanders = new Bystanders();
    /** The time, by nanoTime, from which the report has been held off; valid while {@link #holder} is not null. */
    private long heldSince;
    /** The bystander that holds the report off; null for none. */
    private @Nullable String holder;
    /** Whether the last search found no bystander, and no goroutine has run after it. */
    private boolean alone;
    /** The number of runs at the last check. If it has changed, the check reads nothing else. */
    private long lastRuns = -1;
    private int living;

    DeadlockSearch(Scheduler s) {
        this.s = s;
    }

    /**
     * Reports a deadlock if no goroutine can ever run again. Called by sysmon. It is cheap while goroutines run, or something outside may
     * ready one.
     */
    void look(long now) {
        if (!Checkdead.wanted(s)) {
            return;
        }
        boolean suspected = s.mayBeDead;
        if (suspected) {
            s.mayBeDead = false;
        }
        long runs = runs();
        boolean still = runs == lastRuns || suspected;
        alone &= runs == lastRuns;
        lastRuns = runs;
        if (still && !Checkdead.outside(s) && pollerSleepsForNothing()) {
            s.netpoll.wake(s); // The M in the poller reads the timers again, and goes to sleep on the idle list.
        }
        long resized = Schedt.PROCRESIZETIME.getVolatile(s.sched);
        if (still && !Checkdead.outside(s) && machinesRest() && !isHeld(now)
                && allWait() && machinesRest() && !Checkdead.outside(s) && !timers() && allWait() && runs() == runs
                && Schedt.GCWAITING.getAcquire(s.sched) == 0 && Schedt.PROCRESIZETIME.getVolatile(s.sched) == resized) {
            Checkdead.report(s);
        }
    }

    /**
     * Returns whether the report is held off: because there is a bystander, because it is not time for the next search, or because a second
     * search has to confirm the first.
     */
    private boolean isHeld(long now) {
        if (s.config.strictDeadlocks()) {
            return false;
        }
        if (now - s.heldUntil < 0 || !allWait() || timers()) {
            return true;
        }
        String by = bystanders.any();
        if (by == null) {
            boolean again = alone;
            alone = true;
            holder = null;
            s.heldUntil = now + LEAST_HOLD;
            return !again;
        }
        alone = false;
        if (holder == null) {
            heldSince = now;
        }
        if (!by.equals(holder) && s.config.debug().deadlock() == DebugVars.Deadlock.SHOW) {
            Stderr.print("gmp4j: all goroutines are asleep; no deadlock is reported because of " + by + "\n");
        }
        holder = by;
        s.heldUntil = now + Math.clamp((now - heldSince) / HOLD_PART, LEAST_HOLD, MOST_HOLD);
        return true;
    }

    /**
     * Returns whether only a bystander can ready a goroutine. Called by sysmon while no P runs. The result is false while the JDK or a
     * timer may ready a goroutine, because the run of that goroutine will wake sysmon.
     */
    boolean isHeldBack() {
        if (!Checkdead.wanted(s) || Schedt.NJDKWAIT.getVolatile(s.sched) > 0) {
            return false;
        }
        for (Processor pr : s.procs()) {
            if (P.TIMER0WHEN.getAcquire(pr.pp) != 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether each P is idle or has an M that spins, and the M in the poller sleeps although no timer is set. The caller has found
     * that nothing outside may ready a goroutine, so no goroutine waits for a descriptor either. That M sleeps for timers that were
     * stopped, or for an event that another M has found. {@link #machinesRest} counts it as running.
     */
    private boolean pollerSleepsForNothing() {
        long sched = s.sched;
        int rest = Schedt.NPIDLE.getVolatile(sched) + Schedt.nmspinningVolatile(sched);
        return Schedt.LASTPOLL.getVolatile(sched) == 0 && rest >= Schedt.GOMAXPROCS.getOpaque(sched) && !timers();
    }

    /**
     * Returns the number of goroutine runs, which only grows. The fence orders these reads before pass 1. Pass 2 reads the statuses with
     * acquire, and so before the second call.
     */
    private long runs() {
        long n = 0;
        for (Processor pr : s.procs()) {
            n += P.NSWITCH.getOpaque(pr.pp) + P.NINPLACE.getOpaque(pr.pp) + P.SCHEDTICK.getOpaque(pr.pp); // schedtick: runs of pinned Gs.
        }
        VarHandle.acquireFence();
        return n;
    }

    /** Returns whether all living goroutines wait. If none lives, returns whether main has ended. */
    private boolean allWait() {
        living = 0;
        return s.slots.all(this) && (living > 0 || s.mainExited() && Gcount.gcount(s) == 0);
    }

    /** Returns whether a goroutine waits or is dead. Counts it if it lives. */
    @Override
    public boolean test(long gp) {
        int status = GStatus.readgstatus(gp);
        if (status == GStatus.GDEAD || status == GStatus.GIDLE) {
            return true;
        }
        living++;
        return (status & ~GStatus.GSCAN) == GStatus.GWAITING;
    }

    /** Returns whether each M has ended, sleeps until it gets a P, or spins. */
    private boolean machinesRest() {
        for (Machine m : s.machines()) {
            if (M.EXITED.get(m.mp) == 0 && M.BLOCKED.getOpaque(m.mp) == 0 && M.SPINNING.getOpaque(m.mp) == 0) {
                return false;
            }
        }
        VarHandle.acquireFence(); // The reads below see all that an M did before it fell asleep or began to spin.
        return true;
    }

    /**
     * Returns whether a timer is set. Reads all Ps twice, because timers may move to the first P meanwhile. The first pass may read the
     * first P before such a move, and the old P after the move. Then the second pass finds the timers.
     */
    @SuppressWarnings("IdentityBinaryExpression")
    private boolean timers() {
        return anyTimer() || anyTimer();
    }

    private boolean anyTimer() {
        for (Processor pr : s.procs()) {
            if (s.timers.pending(pr.pp)) {
                return true;
            }
        }
        return false;
    }
}
