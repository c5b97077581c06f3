// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Checkdead;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.TraceEvents;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Schedt;

/** {@code injectglist}: makes many Gs runnable at once, for the network poller and for C code that readies Gs. */
public final class Inject {
    private Inject() {
    }

    /**
     * Readies a list of waiting Gs, linked by schedlink. On an M with a P, {@code sched.arrived} gets one G for each idle P, and the
     * other Gs go to this P's ring. Without a P all Gs go to {@code sched.arrived}.
     *
     * @return the number of Gs
     */
    static int injectglist(Scheduler s, long list) {
        long sched = s.sched;
        int n = 0;
        long last = 0;
        for (long gp = list; gp != 0; gp = G.SCHEDLINK.get(gp)) {
            GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
            TraceEvents.unblocked(s, gp);
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
            rest = list;
            for (int i = 0; i < global; i++) {
                last = rest;
                rest = G.SCHEDLINK.get(rest);
            }
        }
        if (global > 0) {
            SchedLock.lock(sched);
            GlobalRunq.globrunqputarrived(sched, list, last, global);
            SchedLock.unlock(sched);
            startIdle(s, global);
        }
        if (rest != 0) {
            Runq.runqputbatch(sched, pp, rest, n - global);
        }
        Wakep.wakep(s);
        return n;
    }

    /** Readies and counts a list of Gs that the network poller found. */
    public static void injectPolled(Scheduler s, long list) {
        countPolled(s, injectglist(s, list));
    }

    /**
     * Subtracts {@code n} Gs that the poller found from {@code njdkwait}, the number of Gs that something outside of the scheduler may
     * ready. Called only when these Gs are runnable. Otherwise {@link Checkdead} could report a deadlock, because it assumes that spinning
     * Ms and sysmon, which may just have found these Gs, ready no G.
     */
    static void countPolled(Scheduler s, int n) {
        if (s.config.deadlockDetection()) {
            long _ = Schedt.addNjdkwait(s.sched, -n);
        }
    }

    /** Takes all Gs that C code has pushed on sched.inject, and readies them in the order of the pushes. Called from any thread. */
    public static void drain(Scheduler s) {
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
        int _ = injectglist(s, list);
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
