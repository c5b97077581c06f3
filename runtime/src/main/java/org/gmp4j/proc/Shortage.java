// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;

/**
 * An M is wanted and none can be made: the heap is full, the system gives no thread, or {@code maxThreads} of them live. Then
 * the P goes idle and what there is to do waits for an M. Any M that runs finds it when it next looks for work, and sysmon
 * tries again to make one after 10 ms, after 20 ms more, and so on up to every second. Until it does nobody else tries: with a full heap
 * each try is a collection or two, and without threads two lines of HotSpot's on stdout.
 *
 * <p>Nothing is left lying. {@link #without} works under sched.lock: an M that had put itself on the idle list by then is
 * taken, one that comes later sees the P idle, no spinner counted for it, and what was on its ring in the global queue, and
 * takes it ({@link Wakep}, steps 3 and 4). One that sleeps in the poller is woken. Whoever relied on the spinner that was
 * not to be waits for sysmon's look.
 */
final class Shortage {
    private static final long FIRST_WAIT = 10_000_000;
    private static final long LONGEST_WAIT = 1_000_000_000;
    private static final long TELL_NANOS = 60_000_000_000L;

    private final Scheduler s;
    /** Why the last try failed; null when it did not. Set by whoever tried, cleared by sysmon alone. */
    private volatile String why;
    /** Sysmon's: when it last tried and told, and how long it waits before it tries again. */
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

    /** No M for the P, which is idle, in no list, and the caller's; {@code reason} says why not, null: as it was. */
    void without(long pp, boolean spinning, String reason) {
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.closingAcquire(sched) == Scheduler.STOPPED) {
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
            Wakep.stopSpinning(sched);
        }
        if (Schedt.gcwaitingAcquire(sched) != 0) {
            StopTheWorld.stopped(s, pp); // Its work stays on it: startTheWorld finds an M, or comes here again.
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
        if (Schedt.lastpollVolatile(sched) == 0) {
            s.netpoll.wake(s);
        }
        if (Schedt.sysmonwaitAcquire(sched) != 0) {
            Note.ring(Schedt.sysmonnoteAddress(sched));
        }
    }

    /** From sysmon: another try. */
    void look(long now) {
        String reason = why;
        if (reason == null || now - tried < wait) {
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

    /** A goroutine whose own M sleeps needs no other but to be handed a P: all others may be blocked. */
    private void startLocked() {
        long sched = s.sched;
        long found = 0;
        long pp = 0;
        SchedLock.lock(sched);
        if (Schedt.gcwaitingAcquire(sched) == 0 && Schedt.pidle(sched) != 0) {
            found = GlobalRunq.popLocked(sched);
            if (found != 0) {
                pp = Idle.pidleget(sched, System.nanoTime());
                Schedt.setNmidlelocked(sched, Schedt.nmidlelocked(sched) - 1);
            }
        }
        SchedLock.unlock(sched);
        if (found != 0) {
            long mp = G.lockedm(found);
            M.setNextp(mp, pp); // As in startlockedm.
            Note.wakeup(M.parkAddress(mp));
        }
    }
}
