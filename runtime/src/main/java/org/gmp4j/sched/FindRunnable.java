// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.events.Ev;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.policy.Spin;
import org.gmp4j.policy.Turns;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.TraceEvents;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;

/**
 * {@code findRunnable} and {@code stealWork}. An M searches for work in these places, in Go's order except for C code and step 4.
 * When it finds none it goes to sleep ({@link Wakep} has the protocol).
 *
 * <ol>
 * <li>Gs that C code has readied, and due timers of this P
 * <li>the global queue, in those slices in which {@link Turns} puts it first
 * <li>runnext and the local ring; runnext last when its Gs have inherited the slice too often ({@link Turns#passesOverRunnext})
 * <li>the network, if the global queue is not empty and a poll is due ({@link #pollDue})
 * <li>the global queue
 * <li>the network poller, without blocking
 * <li>the other Ps' rings, in four walks; the last walk also visits their timers and runnext ({@link org.gmp4j.queue.StealWalk})
 * <li>work that was registered for idle time
 * <li>the global queue again, under the lock under which the M gives its P up
 * <li>the global queue, all rings and all timers once more, when the M has no P and is on the idle list
 * <li>sleep: one M sleeps in the poller until the next timer is due, the others sleep until they are woken
 * </ol>
 */
final class FindRunnable {
    private FindRunnable() {
    }

    /** Blocks until there is a G to run. Returns it, with {@link Runq#INHERIT} when it came from runnext. */
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
            gp = runqget(sched, pp);
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
            if (s.idleWork()) {
                continue;
            }
            gp = giveUp(m, pp);
            if (gp != 0) {
                return gp;
            }
        }
    }

    /** Returns false when the time of a spinner under a latency policy is up, or the scheduler has ended. */
    private static boolean mayGoOn(Machine m) {
        Thread.onSpinWait();
        return (m.spinUntil == Spin.FOR_EVER || System.nanoTime() < m.spinUntil)
                && Schedt.CLOSING.getAcquire(m.s.sched) != Scheduler.STOPPED;
    }

    /**
     * Lets an M whose last wake-ups were in vain ({@link Spin}) sleep for {@link Spin#NAP} ns and then search again. While it naps it
     * counts as a spinner.
     *
     * @return whether the M slept
     */
    private static boolean nap(Machine m) {
        if (!Spin.naps(m.inVain)) {
            return false;
        }
        m.inVain = Spin.AFTER_NAP;
        PStat.NNAP.addOpaque(m.pp(), 1);
        boolean _ = Note.sleep(M.parkAddress(m.mp), Spin.NAP); // Only the time limit ends this sleep, because the M is on no list.
        return true;
    }

    /**
     * Takes a G from the global queue before the P's own Gs if {@link Turns} says so.
     *
     * <p>One condition covers both lists of the global queue, because C2 compiles no code for a branch that was never taken, and discards
     * the compiled method when such a branch is first taken.
     *
     * @return a G, or 0 to go on with runnext and the ring
     */
    private static long globalFirst(Machine m, long pp) {
        long sched = m.s.sched;
        int slice = P.SCHEDTICK.get(pp);
        int global = Turns.untilGlobal(slice, P.GLOBALDUE.getOpaque(pp));
        if (global * Turns.untilArrived(slice) != 0 || Schedt.RUNQSIZE.getOpaque(sched) == 0) {
            return 0;
        }
        return global == 0 ? turn(sched, pp) : arrived(sched, pp);
    }

    /** Takes a G from the global queue, by the rule of {@link Turns}, for a P without Gs. Called under sched.lock. */
    static long fromGlobal(long sched, long pp) {
        return Turns.untilGlobal(P.SCHEDTICK.get(pp), P.GLOBALDUE.getOpaque(pp)) == 0
                ? GlobalRunq.globrunqturn(sched, pp) : GlobalRunq.globrunqget(sched, pp);
    }

    private static long turn(long sched, long pp) {
        SchedLock.lock(sched);
        long gp = GlobalRunq.globrunqturn(sched, pp);
        SchedLock.unlock(sched);
        return gp;
    }

    private static long arrived(long sched, long pp) {
        if (!GlobalRunq.anyArrived(sched)) {
            return 0;
        }
        SchedLock.lock(sched);
        long gp = GlobalRunq.globrunqgetarrived(sched, pp);
        SchedLock.unlock(sched);
        return gp;
    }

    /**
     * Does the part of findRunnable that visits no other P, polls nothing, and never blocks. Called on a stack whose goroutine has ended.
     *
     * @return the G, with {@link Runq#INHERIT} when it came from runnext; 0 when the M has to run the whole findRunnable
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
        gp = gp == 0 ? runqget(sched, pp) : gp;
        return gp != 0 || othersDue(m.s) ? gp : global(sched, pp);
    }

    private static long runqget(long sched, long pp) {
        int inherited = P.INHERITED.get(pp);
        if (Turns.passesOverRunnext(inherited)) {
            long gp = passOverRunnext(sched, pp);
            if (gp != 0) {
                return gp;
            }
            inherited = 0;
        }
        long gp = Runq.runqget(pp);
        if (gp != 0) {
            PStat.NLOCAL.addOpaque(pp, 1);
            P.INHERITED.set(pp, inherited + 1); // For a G of the ring, the beginning of its slice sets this to 0.
        }
        return gp;
    }

    /** Takes a G of the ring or of {@code sched.arrived} while the G in runnext waits. Returns 0 when neither has any. */
    private static long passOverRunnext(long sched, long pp) {
        long gp = Runq.ringget(pp);
        if (gp == 0) {
            return Schedt.RUNQSIZE.getOpaque(sched) == 0 ? 0 : arrived(sched, pp);
        }
        PStat.NLOCAL.addOpaque(pp, 1);
        return gp;
    }

    /**
     * Returns whether findRunnable would find nothing before the global queue. That is so if the P has no timers and no Gs, C code has
     * readied none, no poll is due, no stopTheWorld waits, and the M is not locked to a G.
     */
    static boolean onlyGlobal(Machine m) {
        long pp = m.pp();
        return Schedt.GCWAITING.getAcquire(m.s.sched) == 0 && M.LOCKEDG.get(m.mp) == 0 && P.TIMER0WHEN.getAcquire(pp) == 0
                && Runq.runqempty(pp) && !othersDue(m.s);
    }

    private static long global(long sched, long pp) {
        if (Schedt.RUNQSIZE.getOpaque(sched) == 0) {
            return 0;
        }
        SchedLock.lock(sched);
        long gp = GlobalRunq.globrunqget(sched, pp);
        SchedLock.unlock(sched);
        return gp;
    }

    /**
     * Polls the network without blocking. Returns the first goroutine that it finds, 0 for none, and queues the others. It does not poll
     * when no goroutine waits for the network, or when an M sleeps in the poller, because the kernel wakes that M for each event. Under a
     * latency policy a spinning M polls even then, because it finds a packet before the sleeper has woken up. (The sleeper then finds
     * nothing.)
     */
    private static long poll(Machine m, long pp) {
        Scheduler s = m.s;
        if (m.leftPoller != 0) {
            s.pollerAbsence.add(System.nanoTime() - m.leftPoller);
            m.leftPoller = 0;
        }
        if (!s.netpoll.anyWaiters(s)
                || Schedt.LASTPOLL.getVolatile(s.sched) == 0 && (m.spinUntil == 0 || M.SPINNING.get(m.mp) == 0)) {
            return 0;
        }
        long list = s.netpoll.poll(s, 0);
        if (list == 0) {
            return 0;
        }
        if (Schedt.NPIDLE.getVolatile(s.sched) != 0 && Schedt.LASTPOLL.getVolatile(s.sched) != 0) {
            leavesPoller(m, System.nanoTime());
        }
        return first(s, pp, list);
    }

    /** Called when the M leaves the poller to run a goroutine, while no M sleeps in the poller and a P is idle. */
    private static void leavesPoller(Machine m, long now) {
        m.leftPoller = now;
        if (m.s.pollerAbsence.isLong()) {
            Wakep.wakep(m.s);
        }
    }

    /**
     * Returns whether findRunnable would ready other Gs before it takes one from the global queue: Gs that C code has pushed on
     * sched.inject, or Gs that the network poller finds. The read of sched.inject may miss a push. Sysmon, which C code wakes after
     * the push, drains sched.inject as well. It is read here too because sysmon may wait for a CPU.
     */
    private static boolean othersDue(Scheduler s) {
        return Schedt.INJECT.getOpaque(s.sched) != 0 || pollDue(s);
    }

    /**
     * Returns whether to poll the network before a G is taken from the global queue, so that goroutines that the network has made ready
     * go before those whose time slice has ended. Go polls only when all queues are empty, which they never are while goroutines compute
     * without end. Then Go's sysmon polls every 10 ms, and queues the goroutines that it finds behind the preempted goroutines.
     */
    static boolean pollDue(Scheduler s) {
        if (!s.netpoll.anyWaiters(s)) {
            return false;
        }
        long last = Schedt.LASTPOLL.getVolatile(s.sched);
        return last != 0 && Turns.isPollDue(System.nanoTime() - last);
    }

    private static long beforeGlobal(Machine m, long pp) {
        Scheduler s = m.s;
        if (Schedt.RUNQSIZE.getOpaque(s.sched) == 0 || !pollDue(s)) {
            return 0;
        }
        long last = Schedt.LASTPOLL.getVolatile(s.sched);
        if (last == 0 || !Schedt.LASTPOLL.compareAndSet(s.sched, last, System.nanoTime())) { // Sysmon sees the new time and does not poll.
            return 0; // Another M polls.
        }
        return poll(m, pp);
    }

    /** Readies the Gs that the poller found. Returns the first of them for {@code pp} to run, and queues the others. */
    private static long first(Scheduler s, long pp, long list) {
        long rest = G.SCHEDLINK.get(list);
        G.SCHEDLINK.set(list, 0);
        if (rest != 0) {
            Inject.injectPolled(s, rest);
        }
        GStatus.casgstatus(list, GStatus.GWAITING, GStatus.GRUNNABLE);
        TraceEvents.unblocked(s, list);
        Inject.countPolled(s, 1);
        PStat.NPOLLED.addOpaque(pp, 1);
        return list;
    }

    /**
     * Searches the other Ps, in the scheduler's steal order.
     *
     * @return a G, or 0; then {@code m.walk.newWork()} says whether findRunnable is to start over
     */
    private static long stealWork(Machine m, long pp) {
        Scheduler s = m.s;
        long gp = m.walk.steal(s.victimOrder, s.sched, pp, s.config.politeNanos());
        if (m.trace != null && m.walk.stolen() != 0) {
            m.trace.event(Ev.STEAL, 0, m.walk.stolen(), m.walk.victim());
        }
        return gp;
    }

    /** Returns the earlier of two times, where 0 means that there is none. */
    static long earlier(long a, long b) {
        return a == 0 || b != 0 && b < a ? b : a;
    }

    /**
     * Gives the P up and sleeps, because the search found no work. Returns a G if a last check finds one, else 0 to start over with a P.
     */
    private static long giveUp(Machine m, long pp) {
        Scheduler s = m.s;
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.GCWAITING.getAcquire(sched) != 0) {
            SchedLock.unlock(sched);
            return 0;
        }
        if (Schedt.RUNQSIZE.getOpaque(sched) != 0) {
            long gp = GlobalRunq.globrunqget(sched, pp);
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
        M.SPINNING.setOpaque(m.mp, 0); // Cleared before the M is listed, because a waker that takes a listed M may set it.
        Threads.list(m);
        SchedLock.unlock(sched);

        if (wasSpinning) {
            Wakep.stopSpinning(sched); // Step 2 of the protocol in Wakep. checkAgain is step 3.
        }
        long gp = checkAgain(m);
        if (gp != 0) {
            return gp;
        }
        if (m.pp() != 0) {
            return 0;
        }
        long pollUntil = checkTimersNoP(s);
        m.untold = 0; // checkTimersNoP has read the timer that no other M was told of.
        if (Schedt.CLOSING.getAcquire(sched) == Scheduler.STOPPED) {
            Threads.stopm(m); // Ends the M. If timers are set, OutsideTimers takes them.
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
            s.netpoll.wake(s); // The M in the poller would sleep past the first timer.
        }
        Threads.stopm(m);
        return 0;
    }

    /**
     * Checks the global queue and all rings once more, without a P. If there is work, takes an idle P and makes the M spin again.
     *
     * @return a G of the global queue, or 0; with 0 {@code m.pp()} says whether the M has a P
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
            return 0; // A spinning M sees that a P is idle, and so searches again or wakes another M.
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

    /**
     * Takes an idle P, if there is one, for work that was found, and takes the M off the idle list. Called under sched.lock, which it
     * releases.
     */
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
        long gp = Schedt.RUNQSIZE.getOpaque(sched) == 0 ? 0 : GlobalRunq.globrunqget(sched, pp);
        SchedLock.unlock(sched);
        Threads.acquirep(m, pp);
        Wakep.becomeSpinning(m);
        return gp;
    }

    /**
     * Waits for the P from the waker that has taken this M from the idle list. If the waker has not made this M spin, the P may have work
     * of its own. Then this M first wakes another M for the work that its last check may have seen, because submitters rely on that check.
     */
    private static long taken(Machine m) {
        if (M.SPINNING.getOpaque(m.mp) == 0) {
            Wakep.wakep(m.s);
        }
        Threads.awaitP(m);
        return 0;
    }

    /** Returns when the first timer of all Ps is due, 0 for none. Called without a P. */
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

    /** Sleeps in the poller until the next timer is due. The caller has no P, and has claimed the poller by setting lastpoll to 0. */
    private static long sleepPolling(Machine m, long pollUntil, boolean wasSpinning) {
        Scheduler s = m.s;
        long sched = s.sched;
        Threads.trimStack();
        Schedt.POLLUNTIL.setVolatile(sched, pollUntil);
        long delay = pollUntil == 0 ? -1 : Math.max(0, pollUntil - System.nanoTime());
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
            if (Schedt.NPIDLE.getVolatile(sched) != 0) {
                leavesPoller(m, now);
            }
            return first(s, pp, list);
        }
        if (wasSpinning) {
            Wakep.becomeSpinning(m);
        }
        return 0;
    }
}
