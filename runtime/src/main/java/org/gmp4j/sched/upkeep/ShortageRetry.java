// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.upkeep;

import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.print.Stderr;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.sched.Shortage;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.Threads;
import org.gmp4j.sched.Wakep;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkShutdown;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * Sysmon's attempts to end a {@link Shortage} of Ms. Sysmon tries again to make an M after {@link #FIRST_WAIT}, and each time doubles the
 * interval, up to {@link #LONGEST_WAIT}. An attempt to make an M first starts spare threads ({@code SpareThreads}), and keeps them for some
 * ms. These may be the last threads that the system has. So when the JVM begins to shut down, sysmon makes no attempt for
 * {@link #LONGEST_WAIT}. In that time the shutdown hooks can start.
 *
 * <p>If each M has a goroutine locked to it, and none of these goroutines is ready, all Ms sleep. Such an M needs only a P and a thread
 * that readies its goroutine. So sysmon runs the timers that no M has run, and hands Ps to these Ms.
 */
final class ShortageRetry {
    private static final long FIRST_WAIT = 10_000_000;
    private static final long LONGEST_WAIT = 1_000_000_000;
    private static final long TELL_NANOS = 60_000_000_000L;
    /** If a timer has been due for this long, ns, sysmon assumes that no M will run it. */
    private static final long LATE_TIMER = 10_000_000;

    // The fields are sysmon's.
    private final Scheduler s;
    /** The time, by nanoTime, of sysmon's last attempt. */
    private long tried;
    /** The time, ns, from that attempt to the next. */
    private long wait = FIRST_WAIT;
    /** Whether sysmon knows that the JVM shuts down. */
    private boolean shutdown;
    /** The time, by nanoTime, of the last line that sysmon printed. */
    private long told = System.nanoTime() - TELL_NANOS;

    ShortageRetry(Scheduler s) {
        this.s = s;
    }

    /** Tries again to make an M, if one is needed and it is time. Called by sysmon. */
    void look(long now) {
        String reason = s.shortage;
        if (reason == null) {
            return;
        }
        if (anyLateTimer(now)) {
            runTimers(now);
            startLocked();
        }
        if (now - tried < wait) {
            return;
        }
        tried = now;
        if (!shutdown && JdkShutdown.hasBegun()) {
            shutdown = true;
            wait = LONGEST_WAIT;
            return;
        }
        if (now - told >= TELL_NANOS) {
            told = now;
            Stderr.tryPrint("gmp4j: ", s.name, " has no thread for what is ready to run, which waits: ", reason);
        }
        s.shortage = null; // From here on other threads may also try to start an M.
        startLocked();
        Wakep.wakepForWork(s);
        wait = s.shortage == null ? FIRST_WAIT : Math.min(2 * wait, LONGEST_WAIT);
    }

    private boolean anyLateTimer(long now) {
        for (Processor pr : s.procs()) {
            long when = P.TIMER0WHEN.getAcquire(pr.pp);
            if (when != 0 && now - when > LATE_TIMER) {
                return true;
            }
        }
        return false;
    }

    /** Runs all due timers, if there is an idle P. The goroutines that timers wake go to the global queue, because sysmon is not an M. */
    private void runTimers(long now) {
        long sched = s.sched;
        SchedLock.lock(sched);
        long pp = Schedt.GCWAITING.getAcquire(sched) == 0 ? Idle.pidleget(sched, now) : 0;
        SchedLock.unlock(sched);
        if (pp == 0) {
            return;
        }
        s.waitsForOutside(1); // Otherwise checkdead would count a goroutine as asleep between its timer and the queue.
        try {
            for (Processor pr : s.procs()) {
                boolean _ = s.timers.check(pp, pr.pp);
                long when = P.TIMER0WHEN.getAcquire(pr.pp);
                if (when != 0) { // check() may have put back a timer for lack of memory. If the P became idle while the heap was empty, the
                                 // P's timer bit is clear.
                    Idle.timerPutBack(sched, pr.pp);
                    Threads.wakeNetPoller(s, when);
                }
            }
        } finally {
            s.waitsForOutside(-1);
            SchedLock.lock(sched);
            if (Schedt.GCWAITING.getAcquire(sched) != 0) {
                StopTheWorld.stopped(s, pp);
            } else {
                Idle.pidleput(sched, pp, now);
            }
            SchedLock.unlock(sched);
        }
    }

    /** Hands a P to an M whose locked goroutine is in the global queue, because all other Ms may be blocked. This needs no new thread. */
    private void startLocked() {
        long sched = s.sched;
        long found = 0;
        long pp = 0;
        SchedLock.lock(sched);
        if (Schedt.GCWAITING.getAcquire(sched) == 0 && Schedt.PIDLE.get(sched) != 0) {
            found = GlobalRunq.popLocked(sched);
            if (found != 0) {
                pp = Idle.pidleget(sched, System.nanoTime());
                Schedt.NMIDLELOCKED.set(sched, Schedt.NMIDLELOCKED.get(sched) - 1);
            }
        }
        SchedLock.unlock(sched);
        if (found != 0) {
            long mp = G.LOCKEDM.get(found);
            M.NEXTP.set(mp, pp); // As in startlockedm.
            Note.wakeup(M.parkAddress(mp));
        }
    }
}
