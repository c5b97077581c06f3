// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.print.Stderr;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * What happens when an M is needed and none can be made: the heap is full, the system gives no thread, or there are {@code maxThreads}
 * Ms. Then the P goes idle and its work waits for an M. Any M that runs finds it when it next looks for work, and sysmon
 * tries again to make one after 10 ms, after 20 ms more, and so on up to every second. Until it does nobody else tries: with a full heap
 * each try is a collection or two, and without threads HotSpot prints two lines on stdout each time.
 *
 * <p>No work is forgotten. {@link #without} works under sched.lock: an M that has put itself on the idle list by then is
 * taken; an M that comes later sees that the P is idle, that no spinner is counted for it, and that the work of its ring is in the
 * global queue, and takes that ({@link Wakep}, steps 3 and 4). An M that sleeps in the poller is woken. Work that was left to the
 * spinner which could not be made waits for sysmon's next try.
 *
 * <p>All Ms may be asleep for goroutines that are locked to them. Such an M needs no thread, only a P and somebody who readies its
 * goroutine. So sysmon runs the timers that no M has run, and gives those Ms their Ps.
 */
final class Shortage {
    private static final long FIRST_WAIT = 10_000_000;
    private static final long LONGEST_WAIT = 1_000_000_000;
    private static final long TELL_NANOS = 60_000_000_000L;
    /** A timer that is due for so long, ns, has no M that would run it. */
    private static final long LATE_TIMER = 10_000_000;

    private final Scheduler s;
    /** Why the last try failed; null when it did not. Set by whoever tried, cleared by sysmon alone. */
    private volatile @Nullable String why;
    /** Of sysmon alone: when it last tried, when it last printed a line, and how long it waits before it tries again. */
    private long tried;
    private long wait = FIRST_WAIT;
    private long told = System.nanoTime() - TELL_NANOS;

    Shortage(Scheduler s) {
        this.s = s;
    }

    /** Whether the last try to make an M failed. */
    boolean lasts() {
        return why != null;
    }

    /** There is no M for the P, which is idle, in no list, and the caller's; {@code reason} says why, null to leave it as it was. */
    void without(long pp, boolean spinning, @Nullable String reason) {
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.CLOSING.getAcquire(sched) == Scheduler.STOPPED) {
            SchedLock.unlock(sched);
            return; // The P may be another scheduler's by now.
        }
        long mp = Idle.mget(sched);
        if (mp != 0) {
            SchedLock.unlock(sched);
            Threads.startm(s, mp, pp, spinning);
            return;
        }
        if (spinning) {
            Wakep.neverComes(sched);
        }
        if (Schedt.GCWAITING.getAcquire(sched) != 0) {
            StopTheWorld.stopped(s, pp); // Its work stays in its ring: startTheWorld finds an M for it, or comes here again.
        } else {
            for (long gp = Runq.runqget(pp); gp != 0; gp = Runq.runqget(pp)) {
                GlobalRunq.globrunqput(sched, gp & ~Runq.INHERIT);
            }
            Idle.pidleput(sched, pp, System.nanoTime());
        }
        if (reason != null) {
            why = reason;
        }
        SchedLock.unlock(sched);
        if (Schedt.LASTPOLL.getVolatile(sched) == 0) {
            s.netpoll.wake(s);
        }
        if (Schedt.SYSMONWAIT.getAcquire(sched) != 0) {
            Note.ring(Schedt.sysmonnoteAddress(sched));
        }
    }

    /** From sysmon: another try. */
    void look(long now) {
        String reason = why;
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
        if (now - told >= TELL_NANOS) {
            told = now;
            Stderr.tryPrint("gmp4j: ", s.name, " has no thread for what is ready to run, which waits: ", reason);
        }
        why = null; // From here on others may try as well.
        startLocked();
        Wakep.wakepForWork(s);
        wait = why == null ? FIRST_WAIT : Math.min(2 * wait, LONGEST_WAIT);
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

    /** Runs all that are due, if there is an idle P for it. What they ready is put into the global queue, as sysmon is no M. */
    private void runTimers(long now) {
        long sched = s.sched;
        SchedLock.lock(sched);
        long pp = Schedt.GCWAITING.getAcquire(sched) == 0 ? Idle.pidleget(sched, now) : 0;
        SchedLock.unlock(sched);
        if (pp == 0) {
            return;
        }
        s.waitsForOutside(1); // A goroutine is for a moment with neither its timer nor a queue: checkdead must not think that it sleeps.
        try {
            for (Processor pr : s.procs()) {
                boolean _ = s.timers.check(pp, pr.pp);
                long when = P.TIMER0WHEN.getAcquire(pr.pp);
                if (when != 0) { // One may have been put back for want of memory, after the P had become idle without any.
                    Idle.timerPutBack(sched, pr.pp);
                    s.wakeNetPoller(when);
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

    /** Hands a P to an M that sleeps for its locked goroutine, which needs no new M: all other Ms may be blocked. */
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
