// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.events.Ev;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;

/**
 * {@code findRunnable} and {@code stealWork}: where an M looks for work, in Go's order, and how it goes to sleep when there is
 * none ({@link Wakep} has the protocol).
 *
 * <ol>
 * <li>due timers of this P; every 61st time, and when that was passed over for some quanta, the global queue; every 1,024th switch those
 * in it that were not preempted
 * <li>runnext and the local ring
 * <li>before a global queue with something in it: the network, unless somebody asked it just now
 * <li>the global queue, a fair share
 * <li>the network poller, without blocking
 * <li>other Ps' rings, four walks; on the last their timers and runnext too ({@link org.gmp4j.queue.StealWalk})
 * <li>work that was registered for idle time
 * <li>the global queue again, under the lock under which the P is given up
 * <li>all rings and timers once more without a P, on the idle list already
 * <li>sleep: one M until the next timer is due, the others until woken
 * </ol>
 */
final class FindRunnable {
    /** One schedule in this many takes from the global queue first, or two goroutines that ready each other would starve it. */
    private static final int GLOBAL_FIRST = 61;
    /**
     * At one switch in this many, a power of 2, whoever was not preempted is taken from the global queue, if since the last time others
     * have run for such a part of the least quantum: what is taken may need the CPU for as long as it gets it.
     */
    static final int AHEAD = 1_024;
    static final int AHEAD_PART = 4;
    private static final int IN_VAIN = 4;
    private static final long NAP_NANOS = 50_000;
    /** With work in the global queue the network is not polled more often than this, in ns: a poll takes a microsecond. */
    private static final long POLL_EVERY = 50_000;

    private FindRunnable() {
    }

    /** Blocks until there is a G to run; with {@link Runq#INHERIT} when it came from runnext. */
    static long findRunnable(Machine m) {
        Scheduler s = m.s;
        long sched = s.sched;
        for (;;) {
            long pp = m.pp();
            if (Schedt.GCWAITING.getAcquire(sched) != 0) {
                StopTheWorld.gcstopm(m);
                continue;
            }
            Inject.drain(s);
            boolean _ = s.timers.check(pp, pp);
            long gp = globalFirst(m, pp);
            if (gp != 0) {
                return gp;
            }
            gp = runqget(pp);
            if (gp != 0) {
                return gp;
            }
            gp = beforeGlobal(m, pp);
            if (gp != 0) {
                return gp;
            }
            gp = global(sched, pp);
            if (gp != 0) {
                return gp;
            }
            gp = poll(m, pp);
            if (gp != 0) {
                return gp;
            }
            if (M.SPINNING.get(m.mp) != 0 || Wakep.becomeSpinning(m)) {
                gp = stealWork(m, pp);
                if (gp != 0) {
                    return gp;
                }
                if (m.walk.newWork() || (m.spinUntil != 0 ? mayGoOn(m) : nap(m))) {
                    continue;
                }
            }
            if (s.idleWork(m)) {
                continue;
            }
            gp = giveUp(m, pp);
            if (gp != 0) {
                return gp;
            }
        }
    }

    /** Under a latency policy: whether to search again, as the spinner's time is not up and the scheduler has not ended. */
    private static boolean mayGoOn(Machine m) {
        Thread.onSpinWait();
        return (m.spinUntil == Long.MAX_VALUE || System.nanoTime() < m.spinUntil)
                && Schedt.CLOSING.getAcquire(m.s.sched) != Scheduler.STOPPED;
    }

    /**
     * When goroutines on one P ready each other in turn, they wake an M each time that none spins, and it finds nothing. An M that was
     * woken in vain a few times in a row sleeps for a moment while it still counts as a spinner, so that no other is woken, and looks
     * again. Go's spinners are as slow: they sleep before they take from runnext.
     *
     * @return whether the M slept
     */
    private static boolean nap(Machine m) {
        if (m.inVain < IN_VAIN) {
            return false;
        }
        m.inVain = IN_VAIN - 1; // Once, until it is woken again.
        PStat.NNAP.addOpaque(m.pp(), 1);
        boolean _ = Note.sleep(M.parkAddress(m.mp), NAP_NANOS); // Nobody rings it: the M is on no list.
        return true;
    }

    /**
     * The 1-in-61 rule; when sysmon has seen the P pass over the queue for some time slices ({@code GlobalTurn}), which may be much sooner;
     * and the 1-in-1024 rule. On the way past them there is one branch for all: C2 leaves out one that was never taken, and discards the
     * code when it first is.
     *
     * <p>The last is for Gs that threads without a P start or wake, which in Go do not exist. Two goroutines that ready each other
     * share one slice, and where timers fire each begins a new one: then the slice of the two never ends, the ring is never empty, and
     * slices are few. Beside such a pair and three goroutines that slept for 5 ms again and again, what was started from outside 77 times a
     * second waited for 3 s with a quantum of 10 ms, or for ever.
     */
    private static long globalFirst(Machine m, long pp) {
        long sched = m.s.sched;
        int slice = Integer.remainderUnsigned(P.SCHEDTICK.get(pp), GLOBAL_FIRST) * (1 - GlobalRunq.anyDue(P.GLOBALDUE.getOpaque(pp)));
        int switches = (int) (P.NSWITCH.getOpaque(pp) + P.NINPLACE.getOpaque(pp)) & AHEAD - 1;
        if (slice * switches != 0 || Schedt.RUNQSIZE.getOpaque(sched) == 0) {
            return 0;
        }
        if (slice != 0) {
            return ahead(m, pp);
        }
        SchedLock.lock(sched);
        long gp = GlobalRunq.globrunqturn(sched, pp);
        SchedLock.unlock(sched);
        return gp;
    }

    private static long ahead(Machine m, long pp) {
        Processor pr = m.s.proc(pp);
        int tick = P.SCHEDTICK.get(pp);
        if (!pr.isAheadAgain(m.s.config.leastQuantumNanos() / AHEAD_PART, P.NSWITCH.getOpaque(pp) + P.NINPLACE.getOpaque(pp), tick)) {
            return 0;
        }
        long sched = m.s.sched;
        SchedLock.lock(sched);
        long gp = GlobalRunq.globrunqgetahead(sched, pp, pr.sliceLasts(tick));
        SchedLock.unlock(sched);
        if (gp != 0) {
            PStat.NGLOBAL.addOpaque(pp, 1);
            pr.ahead++;
            Wakep.wakep(m.s); // What was in runnext is work for others now; the unlock is the fence between.
        }
        return gp;
    }

    /**
     * The part of findRunnable that asks no other P and never blocks: for a stack whose goroutine ended.
     *
     * @return 0 when the M itself has to look: there is nothing here, or the M is wanted for something other than a G
     */
    static long pickLocal(Machine m) {
        long sched = m.s.sched;
        long pp = m.pp();
        if (Schedt.GCWAITING.getAcquire(sched) != 0 || M.LOCKEDG.get(m.mp) != 0) {
            return 0;
        }
        long when = P.TIMER0WHEN.getAcquire(pp);
        if (when != 0 && System.nanoTime() >= when) {
            return 0;
        }
        long gp = globalFirst(m, pp);
        return gp == 0 ? runqget(pp) : gp;
    }

    private static long runqget(long pp) {
        long gp = Runq.runqget(pp);
        if (gp != 0) {
            PStat.NLOCAL.addOpaque(pp, 1);
        }
        return gp;
    }

    /** Whether findRunnable would go straight to the global queue: no timers, nothing local, no poll due, nobody wants the M. */
    static boolean onlyGlobal(Machine m) {
        long pp = m.pp();
        return Schedt.GCWAITING.getAcquire(m.s.sched) == 0 && M.LOCKEDG.get(m.mp) == 0 && P.TIMER0WHEN.getAcquire(pp) == 0
                && Runq.runqempty(pp) && !pollDue(m.s);
    }

    private static long global(long sched, long pp) {
        if (Schedt.RUNQSIZE.getOpaque(sched) == 0) {
            return 0;
        }
        SchedLock.lock(sched);
        long gp = GlobalRunq.globrunqget(sched, pp, 0);
        SchedLock.unlock(sched);
        return gp;
    }

    /**
     * Polls the network without blocking, unless no goroutine waits for it, or an M sleeps in the poller, which then finds what is
     * ready first. Under a latency policy the M that spins polls all the same: it is awake when a packet comes, and the other is not. (The
     * kernel wakes that one too, but when it runs it finds nothing.) Queues all goroutines but the first, which it returns.
     */
    private static long poll(Machine m, long pp) {
        Scheduler s = m.s;
        if (!s.netpoll.anyWaiters(s)
                || Schedt.LASTPOLL.getVolatile(s.sched) == 0 && (m.spinUntil == 0 || M.SPINNING.get(m.mp) == 0)) {
            return 0;
        }
        long list = Inject.look(s);
        return list == 0 ? 0 : first(s, pp, list);
    }

    /**
     * Whether to poll the network before anything is taken from the global queue. Goroutines whose time slice has ended wait in that
     * queue, and what has become ready meanwhile comes before them. Go polls when all queues are empty, which beside goroutines that
     * never yield they never are; then its sysmon polls, every 10 ms, and queues what it finds behind all of those.
     */
    static boolean pollDue(Scheduler s) {
        if (!s.netpoll.anyWaiters(s)) {
            return false;
        }
        long last = Schedt.LASTPOLL.getVolatile(s.sched);
        return last != 0 && System.nanoTime() - last >= POLL_EVERY;
    }

    private static long beforeGlobal(Machine m, long pp) {
        Scheduler s = m.s;
        if (Schedt.RUNQSIZE.getOpaque(s.sched) == 0 || Schedt.RUNQPOLLED.getOpaque(s.sched) != 0 || !pollDue(s)) {
            return 0; // At the head of the queue may be what an earlier poll found: that comes before what this one would find.
        }
        long last = Schedt.LASTPOLL.getVolatile(s.sched);
        if (last == 0 || !Schedt.LASTPOLL.compareAndSet(s.sched, last, System.nanoTime())) { // Else sysmon would poll as well.
            return 0; // Another M polls.
        }
        return poll(m, pp);
    }

    /** Takes the first of a list of Gs that the poller found, to run it on {@code pp}, and readies the others. */
    private static long first(Scheduler s, long pp, long list) {
        long rest = G.SCHEDLINK.get(list);
        G.SCHEDLINK.set(list, 0);
        if (rest != 0) {
            Inject.injectPolled(s, rest);
        }
        GStatus.casgstatus(list, GStatus.GWAITING, GStatus.GRUNNABLE);
        Tracing.unblocked(s, list);
        Inject.countPolled(s, 1);
        PStat.NPOLLED.addOpaque(pp, 1);
        return list;
    }

    /**
     * Looks at the other Ps, in the scheduler's steal order.
     *
     * @return a G, or 0; then {@code m.walk.newWork()} says to start over
     */
    private static long stealWork(Machine m, long pp) {
        Scheduler s = m.s;
        long gp = m.walk.steal(s.victimOrder, s.sched, pp, s.config.politeNanos());
        if (m.trace != null && m.walk.stolen() != 0) {
            m.trace.event(Ev.STEAL, 0, m.walk.stolen(), m.walk.victim());
        }
        return gp;
    }

    /** The earlier of two times, 0 being none. */
    static long earlier(long a, long b) {
        return a == 0 || b != 0 && b < a ? b : a;
    }

    /** Nothing anywhere: gives the P up and sleeps. Returns a G if one turned up, else 0 to start over with a P. */
    private static long giveUp(Machine m, long pp) {
        Scheduler s = m.s;
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.GCWAITING.getAcquire(sched) != 0) {
            SchedLock.unlock(sched);
            return 0;
        }
        if (Schedt.RUNQSIZE.getOpaque(sched) != 0) {
            long gp = GlobalRunq.globrunqget(sched, pp, 0);
            SchedLock.unlock(sched);
            return gp;
        }
        if (M.SPINNING.get(m.mp) == 0 && Schedt.NEEDSPINNING.getVolatile(sched) == 1 && Wakep.becomeSpinning(m)) {
            SchedLock.unlock(sched);
            return 0;
        }
        Threads.releasep(m);
        Idle.pidleput(sched, pp, System.nanoTime());
        boolean wasSpinning = M.SPINNING.get(m.mp) != 0;
        M.SPINNING.setOpaque(m.mp, 0); // Before the next line, after which whoever takes the M may make it spin.
        Threads.list(m);
        SchedLock.unlock(sched);

        if (wasSpinning) {
            Wakep.stopSpinning(sched); // Step 2 of stopping to spin; what follows is step 3.
        }
        long gp = checkAgain(m);
        if (gp != 0) {
            return gp;
        }
        if (m.pp() != 0) {
            return 0;
        }
        long pollUntil = checkTimersNoP(s);
        m.untold = 0; // checkTimersNoP has seen it.
        if (Schedt.CLOSING.getAcquire(sched) == Scheduler.STOPPED) {
            Threads.stopm(m); // Ends the M, whether timers are set or not: those are run outside of the scheduler then.
            return 0;
        }
        if ((pollUntil != 0 || s.netpoll.anyWaiters(s)) && Schedt.LASTPOLL.getVolatile(sched) != 0) {
            SchedLock.lock(sched);
            boolean free = Threads.unlist(m);
            SchedLock.unlock(sched);
            if (!free) {
                return taken(m);
            }
            if (Schedt.LASTPOLL.getAndSet(sched, 0) != 0) {
                return sleepPolling(m, pollUntil, wasSpinning);
            }
        }
        long until = Schedt.POLLUNTIL.getVolatile(sched);
        if (pollUntil != 0 && (until == 0 || until > pollUntil)) {
            s.netpoll.wake(s); // The M in the poller would sleep longer than that.
        } else if (pollUntil == 0 && until != 0 && s.config.deadlockDetection()) {
            s.netpoll.wake(s); // That M sleeps for a timer that was stopped since, and may be the last that is not on the idle list.
        }
        Threads.stopm(m);
        return 0;
    }

    /**
     * Looks at the global queue and all rings without a P; with work in sight takes a P and spins again.
     *
     * @return a G of the global queue, or 0; then the M has a P, or is idle, or another M has a P for it
     */
    private static long checkAgain(Machine m) {
        Scheduler s = m.s;
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.RUNQSIZE.getOpaque(sched) != 0) {
            return resume(m);
        }
        SchedLock.unlock(sched);
        long spinners = Schedt.NMSPINNING.getVolatile(sched);
        if (Schedt.spinning(spinners) != Schedt.onTheirWay(spinners)) {
            return 0; // An M that spins looks again, or wakes another now that a P is idle.
        }
        Processor[] all = s.procs();
        for (int i = 0, n = Math.min(all.length, Schedt.GOMAXPROCS.getOpaque(sched)); i < n; i++) {
            if (!Idle.maskRead(Schedt.IDLEPMASK.getAcquire(sched), i) && !Runq.runqempty(all[i].pp)) {
                SchedLock.lock(sched);
                return resume(m);
            }
        }
        return 0;
    }

    /** There is work: takes an idle P, if there is one, and the M from the idle list. Releases the lock. */
    private static long resume(Machine m) {
        long sched = m.s.sched;
        if (Schedt.PIDLE.get(sched) == 0) {
            Schedt.NEEDSPINNING.setVolatile(sched, 1);
            SchedLock.unlock(sched);
            return 0;
        }
        if (!Threads.unlist(m)) {
            SchedLock.unlock(sched);
            return taken(m);
        }
        long pp = Idle.pidleget(sched, System.nanoTime());
        long gp = Schedt.RUNQSIZE.getOpaque(sched) == 0 ? 0 : GlobalRunq.globrunqget(sched, pp, 0);
        SchedLock.unlock(sched);
        Threads.acquirep(m, pp);
        Wakep.becomeSpinning(m);
        return gp;
    }

    /**
     * Another M has taken this one off the idle list and has a P for it, perhaps with work of that P's own. It may not have known that
     * this M is the one that others rely on to look for work; so the work that this M has just seen needs another M, which is woken here
     * unless this M is to spin with that P.
     */
    private static long taken(Machine m) {
        if (M.SPINNING.getOpaque(m.mp) == 0) {
            Wakep.wakep(m.s);
        }
        Threads.awaitP(m);
        return 0;
    }

    /** When the first timer of all is due, 0 for none; a last look, after the P was given up. */
    private static long checkTimersNoP(Scheduler s) {
        long pollUntil = 0;
        Processor[] all = s.procs();
        for (int i = 0, n = Math.min(all.length, Schedt.GOMAXPROCS.getOpaque(s.sched)); i < n; i++) {
            if (Idle.maskRead(Schedt.TIMERPMASK.getAcquire(s.sched), i)) {
                pollUntil = earlier(pollUntil, s.timers.next(all[i].pp));
            }
        }
        return pollUntil;
    }

    /** Without a P: this M is the one that sleeps in the poller until the next timer is due. */
    private static long sleepPolling(Machine m, long pollUntil, boolean wasSpinning) {
        Scheduler s = m.s;
        long sched = s.sched;
        Threads.trimStack();
        Schedt.POLLUNTIL.setVolatile(sched, pollUntil);
        long delay = pollUntil == 0 ? -1 : Math.max(0, pollUntil - System.nanoTime());
        if (s.config.deadlockDetection()
                && (checkTimersNoP(s) != pollUntil || pollUntil == 0 && !s.netpoll.anyWaiters(s))) {
            delay = 0; // The timer it was to sleep for was stopped, before its sleep was visible to whoever stopped it.
        }
        long list = 0;
        if (Schedt.CLOSING.getAcquire(sched) < Scheduler.STOPPED) {
            JdkThreads.idle(m);
            M.NSLEEPPOLL.addOpaque(m.mp, 1);
            list = s.netpoll.poll(s, delay);
        }
        Schedt.POLLUNTIL.setVolatile(sched, 0);
        long now = System.nanoTime();
        Schedt.LASTPOLL.setVolatile(sched, now);
        SchedLock.lock(sched);
        long pp = Idle.pidleget(sched, now);
        SchedLock.unlock(sched);
        if (pp == 0) {
            if (list != 0) {
                Inject.injectPolled(s, list);
            }
            Threads.stopm(m);
            return 0;
        }
        Threads.acquirep(m, pp);
        if (list != 0) {
            return first(s, pp, list);
        }
        if (wasSpinning) {
            Wakep.becomeSpinning(m);
        }
        return 0;
    }
}
