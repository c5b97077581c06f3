// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.lock.Note;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * {@code checkdead}: reports a deadlock when all goroutines wait and nothing inside or outside of the scheduler can ready one. Each of
 * these may ready a goroutine, and holds the report off:
 * <ul>
 * <li>a goroutine that the JDK parked, or that waits for a socket;
 * <li>threads that are not Ms and are inside a blocking call of the runtime, or left one less than a second ago;
 * <li>timers of Ps; timers outside all schedulers, and their functions;
 * <li>work that is left to sysmon ({@link Deferred});
 * <li>other schedulers;
 * <li>{@link org.gmp4j.stack.Bystanders}: threads, hooks and handlers that do not belong to gmp4j, unless the rule is STRICT.
 * </ul>
 *
 * <p>There are two checks. {@link #dead} runs under sched.lock whenever an M goes to sleep. So its counts are consistent, and the last M
 * that goes to sleep finds the deadlock. With the rule STRICT that M reports it. Otherwise the M wakes sysmon, because a search for
 * bystanders allocates. An M that sleeps in the poller is on no list and counts as running. {@code DeadlockSearch} is sysmon's check, which
 * also wakes an M that sleeps in the poller for nothing.
 */
public final class Checkdead {
    private Checkdead() {
    }

    /** Returns whether no goroutine can ever run again; false when detection is off. Called under sched.lock. */
    public static boolean dead(Scheduler s) {
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
                return false; // The M is on the idle list but still searches for work. It calls this method again when it has finished.
            }
        }
        return Gcount.gcount(s) > 0 || s.mainExited();
    }

    /** Returns whether detection is on, main has not returned and no close was called. */
    public static boolean wanted(Scheduler s) {
        return s.config.deadlockDetection() && !s.mainReturned() && Schedt.CLOSING.getAcquire(s.sched) == 0;
    }

    /** Returns whether something that is not a goroutine of this scheduler may ready one. */
    public static boolean outside(Scheduler s) {
        return Schedt.NJDKWAIT.getVolatile(s.sched) > 0 || Outside.threads() || Outside.alarms()
                || Schedt.INJECT.getAcquire(s.sched) != 0 || Deferred.pending() || othersLive(s);
    }

    /** Returns whether another scheduler's goroutines could wake those of {@code s}. */
    private static boolean othersLive(Scheduler s) {
        for (Scheduler other : Scheduler.live()) {
            if (other != s && !other.mainReturned()) {
                return true;
            }
        }
        return false;
    }

    /** Reports a deadlock that {@link #dead} has found, or lets sysmon check it. Called by the M without sched.lock. */
    public static void suspect(Scheduler s) {
        if (s.config.strictDeadlocks()) {
            report(s);
        }
        if (System.nanoTime() - s.heldUntil >= 0) { // While the report is held off, an M that falls asleep need not wake sysmon.
            s.mayBeDead = true;
            Note.ring(Schedt.sysmonnoteAddress(s.sched));
        }
    }

    /** Reports the deadlock. Called without sched.lock. Nothing runs that could change the number of living goroutines. */
    public static void report(Scheduler s) {
        throw s.reports.fatal(s, "", Gcount.gcount(s) == 0 ? "no goroutines (main called runtime.Goexit) - deadlock!"
                : "all goroutines are asleep - deadlock!");
    }
}
