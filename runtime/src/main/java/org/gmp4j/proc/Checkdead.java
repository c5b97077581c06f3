// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.VarHandle;
import java.util.function.LongPredicate;

import org.gmp4j.config.DebugVars;
import org.gmp4j.lock.Note;
import org.gmp4j.print.Stderr;
import org.gmp4j.stack.Bystanders;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * {@code checkdead}: all goroutines are asleep when nothing inside the scheduler can ready one and nothing outside can. These are
 * outside, and hold the report off:
 * <ul>
 * <li>goroutines that the JDK parked: one that waits for a socket too, as one in IO wait does in Go;
 * <li>threads that are not Ms and are inside a blocking call of ours, or left one less than a second ago;
 * <li>timers outside all schedulers, and their functions;
 * <li>work that is left to sysmon ({@link Deferred});
 * <li>other schedulers;
 * <li>{@link Bystanders}: threads, hooks and handlers that have nothing to do with us, unless the rule is STRICT.
 * </ul>
 *
 * <p>There are two checks. {@link #dead} runs under sched.lock whenever an M goes to sleep, so its counts are consistent, and the
 * last M to go to sleep finds the deadlock. With the rule STRICT it reports it. Otherwise it rings sysmon, because the look at bystanders
 * takes memory. An M that sleeps in the poller until a timer is due is on no list and counts as
 * running. {@link #look} is called by sysmon now and then, for deadlocks that arise while no M goes to sleep: beside an M that spins
 * for ever ({@code SpinPolicy.busy}), or when a thread leaves our blocking call after the last M slept.
 *
 * <p>Why {@code look} is right, though everything moves while it looks. It reads, in this order: how often goroutines were
 * run (c0); every G (pass 1); every M; what is outside, and the timers under their locks; every G (pass 2); the runs again
 * (c1); that no procresize moved timers meanwhile. (The Ms are looked at before all that too, because it is cheap, and most often
 * one is at work.) It says dead if both passes found every living G waiting, every M asleep or spinning, nothing outside, no timer
 * set, and c0 = c1. Suppose a G was runnable or running at a moment t between the look at the Ms and pass 2. Pass 2 saw it
 * waiting or dead, so its run ended after t. A run begins with a CAS on the status, then the count, and ends with a
 * CAS: c1 includes this run. As c0 = c1, c0 includes it too, so it began before pass 1. Then either pass 1 saw the G run; or it saw
 * the G wait while its M was still parking it, and at the look at the Ms that M was still doing so, which is neither sleep nor spin,
 * or had finished, so that the run was over before t. Each is a contradiction.
 *
 * <p>Bystanders are looked for before all this. One that was there before and is gone may have made a goroutine ready, and what
 * follows sees that; where none was, none comes later, as only a bystander or a goroutine can make one. While there is one the
 * report is held off, and the next look is after a quarter of the time that this has lasted, from {@link #LEAST_HOLD} to
 * {@link #MOST_HOLD}. A thread that ends tells nobody, and a wait for its end would be a thread more. The first look that finds none holds
 * the report off for {@link #LEAST_HOLD} as well, as it may have missed one that began while another ended.
 *
 * <p>So at t all Gs waited, their parks complete and their timers in the heaps. An M that spins readies a G only for a timer,
 * which counts as set until it has done so, or for C code, which counts as outside until that G has run.
 * Nothing is left that could ready a G, now or later.
 */
final class Checkdead implements LongPredicate {
    private static final long LEAST_HOLD = 10_000_000;
    private static final long MOST_HOLD = 1_000_000_000;
    /** A look comes after this part of the time for which the report has been held off. */
    private static final int HOLD_PART = 4;

    private final Scheduler s;
    private final Bystanders bystanders = new Bystanders();
    /** Since when, by nanoTime, the report has been held off, and by what; null while it is not. */
    private long heldSince;
    private @Nullable String holder;
    /** Whether the last look found no bystander; no goroutine has run since. */
    private boolean alone;
    /** The number of runs at the last look: nothing else is read unless it has not changed since. */
    private long lastRuns = -1;
    private int living;

    Checkdead(Scheduler s) {
        this.s = s;
    }

    /** Whether nothing will ever run again; under sched.lock. Only when detection is on. */
    static boolean dead(Scheduler s) {
        long sched = s.sched;
        if (!wanted(s)) {
            return false;
        }
        long running = Schedt.MNEXT.get(sched) - Schedt.NMFREED.get(sched) - Schedt.NMIDLE.getOpaque(sched)
                - Schedt.NMIDLELOCKED.get(sched);
        if (running > 0 || Schedt.RUNQSIZE.getOpaque(sched) > 0 || Schedt.GCWAITING.getAcquire(sched) != 0 || outside(s)) {
            return false;
        }
        for (Processor pr : s.procs()) {
            if (P.TIMER0WHEN.getAcquire(pr.pp) != 0) {
                return false;
            }
        }
        for (Machine m : s.machines()) {
            if (m.listed) {
                return false; // Idle, but still looking for work: it calls this when it has finished.
            }
        }
        return Newproc.gcount(s) > 0 || s.mainExited();
    }

    private static boolean wanted(Scheduler s) {
        return s.config.deadlockDetection() && !s.mainReturned() && Schedt.CLOSING.getAcquire(s.sched) == 0;
    }

    /** Whether something that is no goroutine of this scheduler may ready one. */
    private static boolean outside(Scheduler s) {
        return Schedt.NJDKWAIT.getVolatile(s.sched) > 0 || Outside.threads() || Outside.alarms()
                || Schedt.INJECT.getAcquire(s.sched) != 0 || Deferred.pending()
                || othersLive(s);
    }

    /** Whether another scheduler's goroutines could wake ours. */
    private static boolean othersLive(Scheduler s) {
        for (Scheduler other : Scheduler.live()) {
            if (other != s && !other.mainReturned()) {
                return true;
            }
        }
        return false;
    }

    /** An M found that nothing will ever run again; not under the lock. */
    static void suspect(Scheduler s) {
        if (s.config.strictDeadlocks()) {
            report(s);
        }
        if (System.nanoTime() - s.heldUntil >= 0) { // Or each M that falls asleep would wake sysmon.
            s.mayBeDead = true;
            Note.ring(Schedt.sysmonnoteAddress(s.sched));
        }
    }

    /** From sysmon: reports if nothing will ever run again. Cheap while goroutines run, or something is outside. */
    void look(long now) {
        if (!wanted(s)) {
            return;
        }
        boolean suspected = s.mayBeDead;
        if (suspected) {
            s.mayBeDead = false;
        }
        long runs = runs(s);
        boolean still = runs == lastRuns || suspected;
        alone &= runs == lastRuns;
        lastRuns = runs;
        if (still && !outside(s) && pollerSleepsForNothing()) {
            s.netpoll.wake(s); // That M looks at the timers again, and goes to rest.
        }
        long resized = Schedt.PROCRESIZETIME.getVolatile(s.sched);
        if (still && !outside(s) && machinesRest() && !isHeld(now)
                && allWait() && machinesRest() && !outside(s) && !timers() && allWait() && runs(s) == runs
                && Schedt.GCWAITING.getAcquire(s.sched) == 0 && Schedt.PROCRESIZETIME.getVolatile(s.sched) == resized) {
            report(s);
        }
    }

    /** Whether a bystander holds the report off, or did at the last look and it is not time for the next. */
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
     * From sysmon, while nothing runs: whether no goroutine can run again unless something outside readies it. A goroutine that the JDK
     * parked, or that a timer readies, runs before there can be a deadlock, and that wakes sysmon.
     */
    boolean isHeldBack() {
        if (!wanted(s) || Schedt.NJDKWAIT.getVolatile(s.sched) > 0) {
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
     * Whether all Ps are idle, and the M in the poller, which counts as running, sleeps for timers that were stopped since. A goroutine's M
     * wakes that one when it goes to sleep itself; a thread that stops a timer wakes none.
     */
    private boolean pollerSleepsForNothing() {
        long sched = s.sched;
        return Schedt.LASTPOLL.getVolatile(sched) == 0 && Schedt.POLLUNTIL.getVolatile(sched) != 0
                && Schedt.NPIDLE.getVolatile(sched) == Schedt.GOMAXPROCS.getOpaque(sched) && !timers();
    }

    /** How often a goroutine was run; monotone. The acquiring reads of the statuses come after, in pass 1. */
    private static long runs(Scheduler s) {
        long n = 0;
        for (Processor pr : s.procs()) {
            n += P.NSWITCH.getOpaque(pr.pp) + P.NINPLACE.getOpaque(pr.pp) + P.SCHEDTICK.getOpaque(pr.pp); // The last: pinned ones.
        }
        VarHandle.acquireFence();
        return n;
    }

    /** Whether every living goroutine waits, and there is at least one or main has ended. */
    private boolean allWait() {
        living = 0;
        return s.slots.all(this) && (living > 0 || s.mainExited() && Newproc.gcount(s) == 0);
    }

    /** Whether a goroutine waits or is dead; counts it if it lives. */
    @Override
    public boolean test(long gp) {
        int status = GStatus.readgstatus(gp);
        if (status == GStatus.GDEAD || status == GStatus.GIDLE) {
            return true;
        }
        living++;
        return (status & ~GStatus.GSCAN) == GStatus.GWAITING;
    }

    /** Whether each M sleeps until it gets a P, or searches for work. */
    private boolean machinesRest() {
        for (Machine m : s.machines()) {
            if (M.EXITED.get(m.mp) == 0 && M.BLOCKED.getOpaque(m.mp) == 0 && M.SPINNING.getOpaque(m.mp) == 0) {
                return false;
            }
        }
        VarHandle.acquireFence(); // What an M did before it came to rest is seen below.
        return true;
    }

    /**
     * Whether a timer is set. Looks twice: timers may move meanwhile, but only to the first P; if the first pass looked there too early
     * and at their old place too late, the second finds them.
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

    /** Reports; not under the lock. Nothing runs that could change how many goroutines live. */
    static void report(Scheduler s) {
        throw s.reports.fatal(s, "", Newproc.gcount(s) == 0 ? "no goroutines (main called runtime.Goexit) - deadlock!"
                : "all goroutines are asleep - deadlock!");
    }
}
