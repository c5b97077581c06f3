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
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * {@code wakep}, spinning, and the protocol by which no work waits unseen while an M sleeps.
 *
 * <p>An M without work does not sleep at once: it spins, that is, it looks through the other Ps' queues, and is counted in
 * {@code nmspinning}. Whoever queues work wakes another M only when no M spins, because a spinner will find it.
 *
 * <pre>
 *  a submitter of work                       an M that stops spinning
 *  1 queue the G                             1 give the P up: pidleput, npidle+1, under sched.lock
 *  2 full fence: the CAS on runnext, the     2 nmspinning-1                    (volatile)
 *    exchange that frees sched.lock, or a    3 look at all run queues again    (volatile)
 *    fence after the release of the tail
 *  3 npidle > 0, and nmspinning == 0 or      4 found: take an idle P, spin again; nothing: sleep;
 *    all those are late? then wake one:        given another P meanwhile: wake one, as on the left
 *    nmspinning + 1
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
 * <p>A spinner that was woken may wait for a CPU: the kernel puts it behind the thread that runs where it ran last, and no other CPU
 * takes it from there for hundreds of microseconds. In Go it stands for all that is submitted meanwhile, while a P and a CPU are idle.
 * A web server on two CPUs, which its clients share and whose dispatcher is a plain thread, left a tenth of them idle for that. So the
 * word of nmspinning also counts those that are on their way: that were woken and have not come to run. When all spinners are, and the
 * last was woken some time ago, they are late, and whoever queues work wakes one more; the next only after twice that time, and so
 * on, as each late M holds a P that others might want. {@code wokenat} is stored before the CAS that counts the M, and read after
 * the count, so a reader never sees the time of an earlier M; the clock is read first, so a reader that is delayed sees no age.
 * An M that is awake looks for work as if those on their way were not there: neither their number nor their Ps keep it from spinning,
 * and it leaves its last look to none of them.
 *
 * <p>M7: the word grows only by CAS, from 0 or from what were all late when an M is woken, and below the bound in becomeSpinning. An M
 * that comes to run is counted among those that spin, by a CAS as well, only where not enough others do. So those that spin are never
 * more than half of the Ps.
 *
 * <p>Rejected: waking an M for each G (as many futex calls as goroutines, and most of the woken Ms find nothing); handing the G to
 * the sleeping M directly (often the submitter is about to block, and the G would have run on the submitter's P, caches warm).
 */
final class Wakep {
    /** After this long, ns, an M that was woken is late: an idle CPU of a virtual machine takes up to 30 µs to run it. */
    private static final long LATE_NANOS = 50_000;
    /** How much longer, ns, an M may take whose thread is new. */
    private static final long NEW_THREAD_NANOS = 150_000;
    private Wakep() {
    }

    /**
     * After work was queued, with a full fence: sees to it that an M looks for it, if a P is idle; else that sysmon does, if it rests. Just
     * after it has lain down it is left to rest: it has just had its share of the CPU, and would wait for the kernel's next tick, up to
     * 4 ms, beside the goroutine that it is to watch, where the end of its rest wakes it in time. The clock is read only where all
     * spinners are on their way and a P is idle, and where sysmon rests.
     */
    static void wakep(Scheduler s) {
        long sched = s.sched;
        long spinners = Schedt.NMSPINNING.getVolatile(sched);
        if (spinners != 0) {
            int spinning = Schedt.spinning(spinners);
            if (Schedt.onTheirWay(spinners) == spinning && Schedt.NPIDLE.getVolatile(sched) != 0
                    && System.nanoTime() - Schedt.WOKENAT.getOpaque(sched) > LATE_NANOS * spinning) {
                wakepSlow(s, spinners);
            }
            return;
        }
        if (Schedt.NPIDLE.getVolatile(sched) == 0) {
            if (Schedt.SYSMONWAIT.getAcquire(sched) == Schedt.SYSMON_RESTS && System.nanoTime() - s.monitorPaidAt >= 0) {
                Note.ring(Schedt.sysmonnoteAddress(sched)); // The work waits for a running G, whose slice counts now.
            }
            return;
        }
        wakepSlow(s, 0);
    }

    /** Wakes one more M; {@code spinners} are counted. */
    private static void wakepSlow(Scheduler s, long spinners) {
        long sched = s.sched;
        if (!isOnItsWay(sched, spinners)) {
            return; // Another M spins now or was woken, and will look; or one has ceased to, and looks once more.
        }
        SchedLock.lock(sched);
        long pp = Schedt.CLOSING.getAcquire(sched) == Scheduler.STOPPED ? 0
                : Idle.pidlegetSpinning(sched, System.nanoTime());
        if (pp == 0) {
            neverComes(sched);
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
     * Counts an M that the caller is to wake or to make, where {@code spinners} are counted; false when those have changed. The time is
     * stored even then: others are taken for late a little later. The word may be the same again though it counts other Ms, which are not
     * late: then one is woken too early.
     */
    static boolean isOnItsWay(long sched, long spinners) {
        Schedt.WOKENAT.setOpaque(sched, System.nanoTime());
        return Schedt.NMSPINNING.compareAndSet(sched, spinners, spinners + Schedt.IS_ON_ITS_WAY);
    }

    /** The M that is on its way has a new thread, which takes longer to come. */
    static void isNew(long sched) {
        Schedt.WOKENAT.setOpaque(sched, System.nanoTime() + NEW_THREAD_NANOS);
    }

    /** There was no P or no M to wake: counts one less of those on their way. */
    static void neverComes(long sched) {
        subtract(sched, Schedt.IS_ON_ITS_WAY);
    }

    /**
     * An M that was on its way has come to run. Where enough others spin by now it ceases to, and looks as a spinner does that found
     * work, since submitters may have relied on it.
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
                    lookAfterIt(m.s);
                } else {
                    PStat.NSPIN.addOpaque(m.pp(), 1);
                }
                return;
            }
        }
    }

    /**
     * Whether enough others spin: half of the busy Ps (Go's rule), or half of all; those on their way count for neither. One may, as a
     * lone M has to be able to look for work.
     */
    private static boolean enough(long sched, long others) {
        int procs = Schedt.GOMAXPROCS.getOpaque(sched);
        int onTheirWay = Schedt.onTheirWay(others);
        int n = Schedt.spinning(others) - onTheirWay;
        return n != 0 && (n >= Math.max(1, procs / 2) || 2 * n >= procs - Schedt.NPIDLE.getVolatile(sched) - onTheirWay);
    }

    /**
     * An M with a P and without work asks to spin.
     *
     * @return false when enough others do
     */
    static boolean becomeSpinning(Machine m) {
        long sched = m.s.sched;
        if (m.hasStandIn) {
            m.hasStandIn = false;
            m.s.spunInVain = !m.s.spinnerFound;
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

    /** The M spins; it is counted already. */
    static void startSpinning(Machine m) {
        M.SPINNING.setOpaque(m.mp, 1);
        Schedt.NEEDSPINNING.setVolatile(m.s.sched, 0);
        long nanos = m.s.config.spinNanos();
        m.spinUntil = nanos == 0 ? 0 : nanos == Long.MAX_VALUE ? Long.MAX_VALUE : System.nanoTime() + nanos;
    }

    /**
     * A spinner found work: it no longer spins. Another M takes over if there is more to find, or if the policy wants a spinner
     * ready for what comes.
     */
    static void resetspinning(Machine m) {
        Scheduler s = m.s;
        M.SPINNING.setOpaque(m.mp, 0);
        stopSpinning(s.sched);
        if (s.config.spinNanos() == 0) {
            lookAfterIt(s);
        } else {
            standIn(m);
        }
    }

    /** The look of an M that has ceased to spin and is about to do something else. */
    private static void lookAfterIt(Scheduler s) {
        VarHandle.fullFence(); // Between steps 2 and 3: not all reads that follow are volatile.
        if (Schedt.NPIDLE.getVolatile(s.sched) != 0) {
            wakepForWork(s);
        }
    }

    /**
     * Under a latency policy an M that has found work wakes another to spin in its place, ready for what comes. Where one goroutine waits
     * again and again, for a short sleep or a socket, and all other Ps are idle, that is of no use: the one that is woken finds that
     * goroutine next time, and wakes the first again, through the kernel each time. So an M that runs out of work and has woken another,
     * since when no spinner has found anything beside it, says so ({@link Scheduler#spunInVain}): then an M that is alone at work wakes
     * no other, and spins again itself when it has nothing to do. All of these are hints.
     */
    private static void standIn(Machine m) {
        Scheduler s = m.s;
        int idle = Schedt.NPIDLE.getVolatile(s.sched);
        if (idle != 0 && idle >= Schedt.GOMAXPROCS.getOpaque(s.sched) - 1) {
            if (s.spunInVain) {
                lookAfterIt(s);
            } else {
                s.spinnerFound = false;
                m.hasStandIn = true;
                wakep(s);
            }
            return;
        }
        if (!s.spinnerFound || s.spunInVain) { // Else the line is left to other CPUs' caches.
            s.spinnerFound = true;
            s.spunInVain = false;
        }
        if (idle != 0) {
            wakep(s);
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
            when = FindRunnable.earlier(when, P.TIMER0WHEN.getAcquire(pr.pp));
        }
        if (when != 0) {
            Threads.wakeNetPoller(s, when);
        } else if (Schedt.LASTPOLL.getVolatile(s.sched) != 0 && s.netpoll.anyWaiters(s)) {
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
        if (Schedt.RUNQSIZE.getAcquire(s.sched) != 0) {
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
        subtract(sched, Schedt.SPINS);
    }

    private static void subtract(long sched, long one) {
        if (Schedt.spinning(Schedt.addSpinners(sched, -one)) < 0) {
            throw Throw.of("findRunnable: negative nmspinning");
        }
    }
}
