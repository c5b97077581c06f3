// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.invoke.VarHandle;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.policy.Spin;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * {@code wakep}, spinning, and the protocol which ensures that no work waits unseen in a queue while a P is idle.
 *
 * <p>An M without work does not sleep at once. It spins: it searches the other Ps' queues, and is counted in {@code nmspinning}. A
 * thread that submits work wakes an M only when no M spins, because a spinner will find the work.
 *
 * <pre>
 *  a submitter of work                       an M that stops spinning
 *  1 queue the G                             1 give the P up: pidleput, npidle+1, under sched.lock
 *  2 full fence: the CAS on runnext, the     2 nmspinning-1                    (volatile)
 *    exchange that frees sched.lock, or a    3 check all run queues again      (volatile)
 *    fence after the release of the tail
 *  3 npidle > 0, and nmspinning == 0 or      4 work: take an idle P, spin again; no work: sleep;
 *    all spinners are late? then wake one      given a P by a waker meanwhile: wake another M, as
 *    M: nmspinning+1                           on the left
 * </pre>
 *
 * The fence between 1 and 3 on the left and the volatile add between 1 and 3 on the right make this Dekker's pattern. If the submitter's
 * read still sees the spinner, then the G was queued before the spinner's last check, which finds it. If the last check misses the G, then
 * the submitter sees nmspinning without that spinner and npidle with its P. Without the fence the read of nmspinning may pass the store of
 * the tail. Then each side misses the store of the other side, and a G waits while a P is idle.
 *
 * <p>An M may give its P up without having spun, because enough others spin ({@link #becomeSpinning}). Such an M also checks the queues
 * once more. Before its P becomes idle, the last spinner may have found work, and a submitter may have queued more. Neither has woken an M,
 * because no P was idle. Go needs no such check, because there wakep takes sched.lock each time, to set needspinning.
 *
 * <p>A spinner that finds work stops spinning as well. Submitters may have relied on it. So it does step 2, then checks the queues and the
 * timers ({@link #resetspinning}), and wakes another M only if there is more work. Go wakes one without a check. In a service at low load
 * one goroutine becomes ready now and then. With Go's rule each request would wake a second M for nothing.
 *
 * <p>A spinner that was woken may wait for a CPU. The kernel queues it behind the thread that runs on its last CPU, and for a while no
 * other CPU takes it from there. Go wakes no other M for work that is submitted during this time, although a P and a CPU are idle. So here
 * the word of nmspinning also counts the spinners on their way: Ms that were woken and do not run yet. When all spinners are on their way
 * and are late ({@link Spin}), a submitter wakes one more M. {@code wokenat} is stored before the CAS that counts the M, and is read after
 * the count. So a reader never sees the time of an earlier M. The reader reads the clock before wokenat, so a delay between the two makes
 * the M seem younger, not older. An M that is awake ignores the Ms on their way. Neither their number nor their Ps keep it from spinning,
 * and it makes its last check even if such Ms exist.
 *
 * <p>M7: the word grows only by CAS, in two cases: an M is woken because the word is 0 or all its spinners are late, or becomeSpinning
 * finds that not enough others spin. When an M that was woken begins to run, it is counted as spinning, also by CAS, only if not enough
 * others spin. So the number of spinning Ms is at most half of the number of Ps, or one.
 *
 * <p>Rejected: to wake an M for each G. That costs a futex call for each goroutine, and most of the woken Ms find nothing. Rejected too: to
 * hand the G to the sleeping M directly. Often the submitter soon blocks, and the G can run on the submitter's P with warm caches.
 */
public final class Wakep {
    private Wakep() {
    }

    /**
     * Ensures that an M searches for work that was just queued, if a P is idle. The caller has made a full fence after it queued the work.
     *
     * <p>If no P is idle, the work waits until a running G's slice ends. Sysmon is not woken for that, because its light sleep ends within
     * a quantum, or 500 µs ({@link org.gmp4j.policy.Pacing#light}), unless {@link org.gmp4j.policy.ScanBudget} makes it longer. By then the
     * M has recorded when the slice began ({@link org.gmp4j.sched.base.SliceClock}), unless its slices are very short.
     *
     * <p>The clock is read only where all spinners are on their way and a P is idle.
     */
    public static void wakep(Scheduler s) {
        long sched = s.sched;
        long spinners = Schedt.NMSPINNING.getVolatile(sched);
        if (spinners != 0) {
            int spinning = Schedt.spinning(spinners);
            if (Schedt.onTheirWay(spinners) == spinning && Schedt.NPIDLE.getVolatile(sched) != 0
                    && Spin.isLate(System.nanoTime() - Schedt.WOKENAT.getOpaque(sched), spinning)) {
                wakepSlow(s, spinners);
            }
            return;
        }
        if (Schedt.NPIDLE.getVolatile(sched) != 0) {
            wakepSlow(s, 0);
        }
    }

    /** Wakes one more M if the word of nmspinning is still {@code spinners}. */
    private static void wakepSlow(Scheduler s, long spinners) {
        long sched = s.sched;
        if (!tryAddOnItsWay(sched, spinners)) {
            return; // Another M has begun to spin or was woken, and will search; or one has stopped spinning, and checks the queues.
        }
        SchedLock.lock(sched);
        long pp = Schedt.CLOSING.getAcquire(sched) == Scheduler.STOPPED ? 0
                : Idle.pidlegetSpinning(sched, System.nanoTime());
        if (pp == 0) {
            dropOnItsWay(sched);
            SchedLock.unlock(sched);
            return;
        }
        if (spinners != 0) {
            SchedStat.NLATE.addOpaque(sched, 1);
        }
        long mp = Idle.mget(sched);
        SchedLock.unlock(sched);
        Threads.startm(s, mp, pp, true);
    }

    /**
     * Counts an M that the caller will wake or make as a spinner on its way, if the word of nmspinning is still {@code spinners}. Returns
     * false when the word has changed. The time is stored even then. This only delays the moment from which the spinners count as late. A
     * word that has changed and changed back counts other Ms, which are not late. Then an M is woken too early.
     */
    static boolean tryAddOnItsWay(long sched, long spinners) {
        Schedt.WOKENAT.setOpaque(sched, System.nanoTime());
        return Schedt.NMSPINNING.compareAndSet(sched, spinners, spinners + Schedt.IS_ON_ITS_WAY);
    }

    /** Extends the time after which the M that was counted last is late, because its thread is new and takes longer until it runs. */
    static void allowForNewThread(long sched) {
        Schedt.WOKENAT.setOpaque(sched, System.nanoTime() + Spin.NEW_THREAD);
    }

    /** Subtracts one spinner on its way, because there was no P for it, or no M. */
    static void dropOnItsWay(long sched) {
        subtract(sched, Schedt.IS_ON_ITS_WAY);
    }

    /**
     * Counts an M that was on its way as one that spins. Called by that M when it begins to run. If enough others spin by now, it stops
     * spinning. Then it checks the queues, like a spinner that found work, because submitters may have relied on it.
     */
    static void begun(Machine m) {
        long sched = m.s.sched;
        for (;;) {
            long spinners = Schedt.NMSPINNING.getVolatile(sched);
            long others = spinners - Schedt.IS_ON_ITS_WAY;
            boolean enough = enough(sched, others);
            if (Schedt.NMSPINNING.compareAndSet(sched, spinners, others + (enough ? 0 : Schedt.SPINS))) {
                if (enough) {
                    M.SPINNING.setOpaque(m.mp, 0);
                    wakepAfterSpin(m.s);
                } else {
                    PStat.NSPIN.addOpaque(m.pp(), 1);
                }
                return;
            }
        }
    }

    /**
     * Returns whether enough others spin. Spinners on their way do not count, and their Ps do not count as busy.
     *
     * @param others the word of nmspinning without the caller
     */
    private static boolean enough(long sched, long others) {
        int onTheirWay = Schedt.onTheirWay(others);
        int n = Schedt.spinning(others) - onTheirWay;
        return Spin.isEnough(n, Schedt.GOMAXPROCS.getOpaque(sched), Schedt.NPIDLE.getVolatile(sched) + onTheirWay);
    }

    /**
     * Makes an M that has a P and no work spin, if not enough others do.
     *
     * @return whether the M spins
     */
    static boolean becomeSpinning(Machine m) {
        long sched = m.s.sched;
        if (m.hasStandIn) {
            m.hasStandIn = false;
            m.s.spin.ends();
        }
        for (;;) {
            long spinners = Schedt.NMSPINNING.getVolatile(sched);
            if (enough(sched, spinners)) {
                return false;
            }
            if (Schedt.NMSPINNING.compareAndSet(sched, spinners, spinners + Schedt.SPINS)) {
                startSpinning(m);
                PStat.NSPIN.addOpaque(m.pp(), 1);
                return true;
            }
        }
    }

    /** Marks the M as spinning. The caller has counted the M. */
    static void startSpinning(Machine m) {
        M.SPINNING.setOpaque(m.mp, 1);
        Schedt.NEEDSPINNING.setVolatile(m.s.sched, 0);
        long nanos = m.s.config.spinNanos();
        m.spinUntil = Spin.isLimited(nanos) ? System.nanoTime() + nanos : nanos;
    }

    /**
     * Stops the spinning of an M that has found work. Another M takes over if there is more work, or if the latency policy keeps a
     * spinner ready for new work.
     */
    static void resetspinning(Machine m) {
        Scheduler s = m.s;
        M.SPINNING.setOpaque(m.mp, 0);
        stopSpinning(s.sched);
        if (s.config.spinNanos() == 0) {
            wakepAfterSpin(s);
        } else {
            standIn(m);
        }
    }

    /** Does step 3 for an M that has stopped spinning. */
    private static void wakepAfterSpin(Scheduler s) {
        VarHandle.fullFence(); // Between steps 2 and 3, because not all reads of step 3 are volatile.
        if (Schedt.NPIDLE.getVolatile(s.sched) != 0) {
            wakepForWork(s);
        }
    }

    /**
     * Wakes a stand-in: an M that spins in place of the caller, which has found work. If the last stand-in was in vain ({@link Spin}),
     * wakes an M only for queued work, timers or the network. Called only under a latency policy, which keeps a spinner ready for new work.
     */
    private static void standIn(Machine m) {
        Scheduler s = m.s;
        int idle = Schedt.NPIDLE.getVolatile(s.sched);
        if (Spin.isAlone(idle, Schedt.GOMAXPROCS.getOpaque(s.sched))) {
            if (s.spin.inVain) {
                wakepAfterSpin(s);
            } else {
                s.spin.begins();
                m.hasStandIn = true;
                wakep(s);
            }
            return;
        }
        s.spin.finds();
        if (idle != 0) {
            wakep(s);
        }
    }

    /**
     * Wakes an M if a queue has work, or else for timers and the network ({@link #wakepForEvents}). The caller is an M that now does
     * something else, and on which submitters relied because it spun or held the last P.
     */
    public static void wakepForWork(Scheduler s) {
        if (anyWork(s)) {
            wakep(s);
        } else {
            wakepForEvents(s);
        }
    }

    /** Wakes an M if a timer is set and no M watches the timers, or if a goroutine waits for the network and no M watches the network. */
    public static void wakepForEvents(Scheduler s) {
        long when = 0;
        for (Processor pr : s.procs()) {
            when = FindRunnable.earlier(when, P.TIMER0WHEN.getAcquire(pr.pp));
        }
        if (when != 0) {
            Threads.wakeNetPoller(s, when);
        } else if (Schedt.LASTPOLL.getVolatile(s.sched) != 0 && s.netpoll.anyWaiters(s)) {
            wakep(s);
        }
    }

    /**
     * Returns whether a run queue has work. The caller has made a full fence after it stopped spinning or made its P idle. The partner is
     * the submitter's fence after the work was queued. If an M meanwhile moves Gs from one queue to another, it wakes an M for them, or
     * leaves them to sysmon when there is a shortage of threads.
     */
    private static boolean anyWork(Scheduler s) {
        if (Schedt.RUNQSIZE.getOpaque(s.sched) != 0) {
            return true;
        }
        for (Processor pr : s.procs()) {
            if (!Runq.runqempty(pr.pp)) {
                return true;
            }
        }
        return false;
    }

    /** Subtracts one spinning M. */
    static void stopSpinning(long sched) {
        subtract(sched, Schedt.SPINS);
    }

    private static void subtract(long sched, long one) {
        if (Schedt.spinning(Schedt.addSpinners(sched, -one)) < 0) {
            throw Throw.of("findRunnable: negative nmspinning");
        }
    }
}
