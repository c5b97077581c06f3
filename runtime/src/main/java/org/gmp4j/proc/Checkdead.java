package org.gmp4j.proc;

import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * {@code checkdead}: all goroutines are asleep when every M sleeps on an idle list and nothing outside can wake one.
 *
 * <p>It runs under sched.lock whenever an M goes to sleep, so the counts are consistent. An M that sleeps in the poller
 * until a timer is due is on no list and counts as running. Goroutines parked by the JDK, and threads that are not Ms
 * inside a blocking call of ours, may be woken from outside and hold the report off.
 */
final class Checkdead {
    private Checkdead() {
    }

    /** Whether nothing will ever run again; under sched.lock. Only when detection is on. */
    static boolean dead(Scheduler s) {
        if (!s.config.deadlockDetection() || s.mainReturned()) {
            return false;
        }
        long sched = s.sched;
        long running = Schedt.mnext(sched) - Schedt.nmfreed(sched) - Schedt.nmidleOpaque(sched)
                - Schedt.nmidlelocked(sched);
        if (running > 0 || Schedt.closingAcquire(sched) != 0) {
            return false;
        }
        if (Schedt.njdkwaitVolatile(sched) > 0 || Waiting.threads() > 0
                || Schedt.runqsizeOpaque(sched) > 0 || Schedt.gcwaitingAcquire(sched) != 0) {
            return false;
        }
        if (Schedt.injectAcquire(sched) != 0 || othersLive(s)) {
            return false;
        }
        for (Processor pr : s.procs()) {
            if (P.timer0WhenAcquire(pr.pp) != 0) {
                return false;
            }
        }
        return Newproc.gcount(s) > 0 || s.mainExited();
    }

    /** Whether another scheduler's goroutines could wake ours. */
    private static boolean othersLive(Scheduler s) {
        for (Scheduler other : Scheduler.all()) {
            if (other != s && !other.mainReturned()) {
                return true;
            }
        }
        return false;
    }

    /** Reports; not under the lock. */
    static void report(Scheduler s) {
        throw Fatal.fatal(s, "", s.mainExited() ? "no goroutines (main called runtime.Goexit) - deadlock!"
                : "all goroutines are asleep - deadlock!");
    }
}
