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
     * Readies a list of waiting Gs, linked by schedlink. On an M with a P they fill its ring first, after as many as there
     * are idle Ps went to the global queue for those to take; without a P all go to the global queue.
     *
     * @param first whether in the global queue they come before all others
     * @return how many they were
     */
    static int injectglist(Scheduler s, long list, boolean first) {
        long sched = s.sched;
        int n = 0;
        long last = 0;
        for (long gp = list; gp != 0; gp = G.schedlink(gp)) {
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
        int global = pp == 0 ? n : Math.min(n, Schedt.npidleVolatile(sched));
        long rest = 0;
        if (global < n) {
            long cut = list;
            for (int i = 1; i < global; i++) {
                cut = G.schedlink(cut);
            }
            if (global == 0) {
                rest = list;
            } else {
                rest = G.schedlink(cut);
                last = cut;
            }
        }
        if (global > 0) {
            SchedLock.lock(sched);
            if (first) {
                GlobalRunq.globrunqputheadbatch(sched, list, last, global);
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
     * The same for what the network poller found. It comes before those that had their time slices, whoever polled: what an M finds
     * goes to a ring, and what sysmon finds beside goroutines that need the CPU for long would wait for a slice of each of them. (In
     * Go it does.) The others still have their turns: of 61 schedules one takes from the global queue, and sysmon polls only when no M
     * did for a quantum.
     */
    static void injectPolled(Scheduler s, long list) {
        countPolled(s, injectglist(s, list, true));
    }

    /**
     * Gs that the JDK had parked are runnable. Counted only now: until it is, the poller's caller, which may be sysmon or an M that
     * spins, would pass for one that can ready nobody, and {@link Checkdead} would find all asleep.
     */
    static void countPolled(Scheduler s, int n) {
        if (s.config.deadlockDetection()) {
            long unused = Schedt.addNjdkwait(s.sched, -n);
        }
    }

    /** Readies what C code left on sched.inject, in the order it came. From any thread; whoever is first takes all. */
    static void drain(Scheduler s) {
        if (Schedt.injectAcquire(s.sched) == 0) {
            return;
        }
        long list = 0;
        for (long gp = Schedt.xchgInject(s.sched, 0); gp != 0;) {
            long next = G.schedlink(gp);
            G.setSchedlink(gp, list);
            list = gp;
            gp = next;
        }
        int unused = injectglist(s, list, false);
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
