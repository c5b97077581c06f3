// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.VarHandle;

import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * {@code wakep}, spinning, and the protocol by which no work waits unseen while an M sleeps.
 *
 * <p>An M without work does not sleep at once: it spins, that is, it looks through the other Ps' queues, and is counted in
 * {@code nmspinning}. Whoever queues work wakes another M only when nobody spins, because a spinner will find it.
 *
 * <pre>
 *  a submitter of work                       an M that stops spinning
 *  1 queue the G                             1 give the P up: pidleput, npidle+1, under sched.lock
 *  2 full fence: the CAS on runnext, the     2 nmspinning-1                    (volatile)
 *    exchange that frees sched.lock, or a    3 look at all run queues again    (volatile)
 *    fence after the release of the tail
 *  3 nmspinning == 0 and npidle > 0?         4 found: take an idle P, spin again; nothing: sleep;
 *    then wake one: nmspinning 0 to 1          given another P meanwhile: wake one, as on the left
 * </pre>
 *
 * The fence between 1 and 3 on the left and the volatile add between 1 and 3 on the right make this Dekker's pattern: if
 * the submitter's read still sees the spinner, then its queueing precedes the spinner's last look, which finds the G; if
 * the last look misses the G, then the submitter sees nmspinning without that spinner and npidle with its P. Without the
 * fence the read of nmspinning may pass the store of the tail, both look away, and a G waits while a P sleeps.
 *
 * <p>An M that does not spin when it gives its P up (because others do: {@link #becomeSpinning}) also looks once more, though
 * in Go it does not. Its P becomes idle only now: the last spinner may have found work and woken nobody, as no P was idle, and
 * a submitter may have woken nobody for the same reason. In Go wakep takes sched.lock each time, to set needspinning.
 *
 * <p>A spinner that finds work stops spinning as well. Submitters may have relied on it, so it does step 2 and then looks in
 * the same way, at timers too ({@link #resetspinning}). Only if there is something is another M woken. Go wakes one without
 * looking. In a service at low load, where a goroutine becomes ready now and then, that woke a second M for nothing each
 * time, which was a third of the time that a request took.
 *
 * <p>M7: nmspinning grows only by CAS, from 0 here, and below the bound in becomeSpinning.
 *
 * <p>Rejected: waking an M for each G (as many futex calls as goroutines, and most of the woken Ms find nothing); handing the G to
 * the sleeping M directly (often the submitter is about to block, and the G would have run on the submitter's P, caches warm).
 */
final class Wakep {
    private Wakep() {
    }

    /** After work was queued, with a full fence: sees to it that an M looks for it, if a P is idle. */
    static void wakep(Scheduler s) {
        long sched = s.sched;
        if (Schedt.nmspinningVolatile(sched) != 0) {
            return;
        }
        if (Schedt.npidleVolatile(sched) == 0) {
            if (Schedt.sysmonwaitAcquire(sched) == Schedt.SYSMON_RESTS) {
                Note.ring(Schedt.sysmonnoteAddress(sched)); // The work waits for a running G, whose slice counts now.
            }
            return;
        }
        wakepSlow(s);
    }

    private static void wakepSlow(Scheduler s) {
        long sched = s.sched;
        if (!Schedt.casNmspinning(sched, 0, 1)) {
            return; // Another M spins now, and will look.
        }
        SchedLock.lock(sched);
        long pp = Schedt.closingAcquire(sched) == Scheduler.STOPPED ? 0
                : Idle.pidlegetSpinning(sched, System.nanoTime());
        if (pp == 0) {
            stopSpinning(sched);
            SchedLock.unlock(sched);
            return;
        }
        long mp = Idle.mget(sched);
        SchedLock.unlock(sched);
        Threads.startm(s, mp, pp, true);
    }

    /**
     * An M with a P and without work asks to spin.
     *
     * @return false when enough do: at most half of the busy Ps (Go's rule), and never more than half of all
     */
    static boolean becomeSpinning(Machine m) {
        long sched = m.s.sched;
        int procs = Schedt.gomaxprocsOpaque(sched);
        for (;;) {
            int n = Schedt.nmspinningVolatile(sched);
            if (2 * n >= procs - Schedt.npidleVolatile(sched) || n >= Math.max(1, procs / 2)) {
                return false;
            }
            if (Schedt.casNmspinning(sched, n, n + 1)) {
                startSpinning(m);
                PStat.NSPIN.addOpaque(m.pp(), 1);
                return true;
            }
        }
    }

    /** The M spins; it is counted already. */
    static void startSpinning(Machine m) {
        M.setSpinningOpaque(m.mp, 1);
        Schedt.setNeedspinningVolatile(m.s.sched, 0);
        long nanos = m.s.config.spinNanos();
        m.spinUntil = nanos == 0 ? 0 : nanos == Long.MAX_VALUE ? Long.MAX_VALUE : System.nanoTime() + nanos;
    }

    /**
     * A spinner found work: it no longer spins. Another M takes over if there is more to find, or if the policy wants a spinner
     * ready for what comes.
     */
    static void resetspinning(Machine m) {
        Scheduler s = m.s;
        M.setSpinningOpaque(m.mp, 0);
        stopSpinning(s.sched);
        VarHandle.fullFence(); // Between steps 2 and 3: not all reads that follow are volatile.
        if (Schedt.npidleVolatile(s.sched) == 0) {
            return;
        }
        if (s.config.spinNanos() != 0) {
            wakep(s);
        } else {
            wakepForWork(s);
        }
    }

    /**
     * Wakes an M if a queue has work, or if there is a timer, or a goroutine that waits for the network, and no M watches those.
     * Called by an M that others relied on, as a spinner or because it held the last P, and that is about to do something else.
     */
    static void wakepForWork(Scheduler s) {
        if (anyWork(s)) {
            wakep(s);
            return;
        }
        long when = 0;
        for (Processor pr : s.procs()) {
            when = FindRunnable.earlier(when, P.timer0WhenAcquire(pr.pp));
        }
        if (when != 0) {
            Threads.wakeNetPoller(s, when);
        } else if (Schedt.lastpollVolatile(s.sched) != 0 && s.netpoll.anyWaiters(s)) {
            wakep(s);
        }
    }

    /**
     * Whether a run queue has work. The global one is read first, by an acquire that keeps the reads of the rings behind it (its partner
     * is the release of the tail in runqpushlist): an M that does not spin may move Gs from there to its ring and wake nobody.
     * While they are in neither, that M has taken the last Gs of the queue; then npidle is 0, or there was only the one G that it runs
     * itself.
     */
    private static boolean anyWork(Scheduler s) {
        if (Schedt.runqsizeAcquire(s.sched) != 0) {
            return true;
        }
        for (Processor pr : s.procs()) {
            if (!Runq.runqempty(pr.pp)) {
                return true;
            }
        }
        return false;
    }

    /** Counts one spinner less. */
    static void stopSpinning(long sched) {
        if (Schedt.addNmspinning(sched, -1) < 0) {
            throw Throw.of("findRunnable: negative nmspinning");
        }
    }
}
