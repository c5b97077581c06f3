// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Schedt;

/** {@code injectglist}: many Gs become runnable at once (the poller found them ready, a C thread readied them). */
final class Inject {
    private Inject() {
    }

    /**
     * Readies a list of waiting Gs, linked by schedlink. On an M with a P, one for each idle P goes to the global queue, for those Ps
     * to take, and the others go to this P's ring; without a P all go to the global queue.
     *
     * @param first whether those that go to the global queue go to its head, behind what earlier polls have found
     * @return how many Gs there were
     */
    static int injectglist(Scheduler s, long list, boolean first) {
        long sched = s.sched;
        int n = 0;
        long last = 0;
        for (long gp = list; gp != 0; gp = G.SCHEDLINK.get(gp)) {
            GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
            Tracing.unblocked(s, gp);
            last = gp;
            n++;
        }
        if (n == 0) {
            return 0;
        }
        Machine m = Machine.of();
        long pp = m != null && m.s == s ? m.pp() : 0;
        int global = pp == 0 ? n : Math.min(n, Schedt.NPIDLE.getVolatile(sched));
        long rest = 0;
        if (global < n) {
            long cut = list;
            for (int i = 1; i < global; i++) {
                cut = G.SCHEDLINK.get(cut);
            }
            if (global == 0) {
                rest = list;
            } else {
                rest = G.SCHEDLINK.get(cut);
                last = cut;
            }
        }
        if (global > 0) {
            SchedLock.lock(sched);
            if (first) {
                GlobalRunq.globrunqputpolled(sched, list, last, global);
            } else {
                GlobalRunq.globrunqputbatch(sched, list, last, global);
            }
            SchedLock.unlock(sched);
            startIdle(s, global);
        }
        if (rest != 0) {
            Runq.runqputbatch(sched, pp, rest, n - global);
        }
        Wakep.wakep(s);
        return n;
    }

    /**
     * The same for what the network poller found. It comes before goroutines whose time slice has ended, whichever thread polled. What an
     * M finds goes to its ring; what sysmon finds goes to the global queue before all that no poll has found, as at its tail it would wait
     * for a time slice of each goroutine there that needs the CPU for long. (In Go it does.) Those still have their turns: sysmon polls
     * only when no M has for two quanta, and {@code GlobalTurn} sees to it.
     */
    static void injectPolled(Scheduler s, long list) {
        countPolled(s, injectglist(s, list, true));
    }

    /**
     * Polls without blocking. After the last wait has ended by that, an M that sleeps in the poller sleeps for no goroutine, and counts as
     * awake: it is woken. (It says that it sleeps before it looks whether any waits; here the count has been changed before.)
     */
    static long look(Scheduler s) {
        long list = s.netpoll.poll(s, 0);
        if (s.config.deadlockDetection() && !s.netpoll.anyWaiters(s) && Schedt.LASTPOLL.getVolatile(s.sched) == 0) {
            s.netpoll.wake(s);
        }
        return list;
    }

    /**
     * Counts that Gs which the JDK had parked are runnable. Not earlier: {@link Checkdead} takes a spinning M, and sysmon, which may have
     * called the poller, for threads that can ready nothing, so in between it would find all asleep.
     */
    static void countPolled(Scheduler s, int n) {
        if (s.config.deadlockDetection()) {
            long _ = Schedt.addNjdkwait(s.sched, -n);
        }
    }

    /** Readies what C code left on sched.inject, in the order it came. From any thread; the first takes all. */
    static void drain(Scheduler s) {
        if (Schedt.INJECT.getAcquire(s.sched) == 0) {
            return;
        }
        long list = 0;
        for (long gp = Schedt.INJECT.getAndSet(s.sched, 0); gp != 0;) {
            long next = G.SCHEDLINK.get(gp);
            G.SCHEDLINK.set(gp, list);
            list = gp;
            gp = next;
        }
        int _ = injectglist(s, list, false);
    }

    private static void startIdle(Scheduler s, int n) {
        for (int i = 0; i < n; i++) {
            SchedLock.lock(s.sched);
            long pp = Idle.pidlegetSpinning(s.sched, System.nanoTime());
            SchedLock.unlock(s.sched);
            if (pp == 0) {
                return;
            }
            Threads.startm(s, pp, false);
        }
    }
}
