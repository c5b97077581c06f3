// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import java.lang.ref.Reference;
import java.util.concurrent.RejectedExecutionException;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.print.Stderr;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.Park;
import org.gmp4j.sched.Wakep;
import org.gmp4j.sched.base.Collected;
import org.gmp4j.sched.base.Deferred;
import org.gmp4j.sched.base.HiddenStacks;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.TraceEvents;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.stack.JdkState;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.Timeout;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * The JDK's wake-ups of a virtual thread that is a goroutine. The JDK may park the thread at a lock, a monitor or a socket. Then the M
 * makes the G {@code _Gwaiting} and opens the {@link GStack#openTicket ticket}, which makes the ticket odd. Only then does the M call the
 * JDK's afterYield, which publishes PARKED (or BLOCKED, WAIT, …). From then on any thread may call {@link #execute}. The call may come
 * late, because an unparker may lose its CPU between its CAS and its call. It may come twice, because a stack dump resubmits a thread that
 * it has held up. A call that finds the ticket even, or the thread not runnable, is stale and does nothing. Of the calls that find ticket n
 * odd and the thread runnable, the one that moves the ticket to n+1 owns the wake-up and readies the G. {@link Collected} is about threads
 * that no code can wake any more.
 *
 * <p>No wake-up is lost. The thread becomes runnable only by a CAS, of the JDK or of {@code JdkState}, from a state that afterYield set. So
 * the ticket is open by then, and a call of execute follows each such CAS. No wake-up is doubled, because a ticket is closed once.
 * Rejected: a plain CAS on the G's status, by which a stale call could end the next wait of the same G, for example on a channel.
 */
public final class JdkReady {
    private JdkReady() {
    }

    /**
     * Readies the goroutine of a thread that the JDK starts or has made runnable. This must not fail. If there is too little room on the
     * caller's stack, sysmon does the work.
     */
    static void execute(GStack st, Runnable task) {
        boolean starts = false;
        if (!st.isMine(task)) {
            task = JdkThreads.unwrapped(task);
            starts = !st.isMine(task);
            if (starts && leftToJdk(task)) {
                return;
            }
        }
        GStack caller = GStack.current();
        boolean outside = caller == null || M.LOCKS.getOpaque(caller.machine().mp) == 0;
        boolean room = !outside || Headroom.enough();
        int traced = 0;
        String place = null;
        if (outside && room && (starts || st.gp == 0)) {
            Thread vt = starts ? JdkThreads.threadOf(task) : null;
            Scheduler s = vt == null ? st.s : NamedPools.of(st.s, vt);
            Runnable fn = s.tracer == null && s.places == null ? null : started(st, task, starts);
            if (fn != null) {
                traced = TraceEvents.site(s, fn);
                place = s.places == null ? null : Newproc.place(s.places, fn);
            }
            if (starts) {
                Newproc.help(s.collected);
            }
        }
        if (room || !Deferred.add(new Wakeup(st, task))) {
            executeNow(st, task, traced, place);
        }
    }

    /** A wake-up that is left to sysmon. */
    private static final class Wakeup extends Deferred {
        private final GStack st;
        private final Runnable task;

        Wakeup(GStack st, Runnable task) {
            this.st = st;
            this.task = task;
        }

        @Override
        protected void run() {
            try {
                executeNow(st, task, 0, null);
            } catch (IllegalStateException | RejectedExecutionException e) {
                // The start of the thread has returned already, and can throw no exception.
                Stderr.print("gmp4j: a thread was not started, its Gmp is closed: " + task + "\n");
            }
        }
    }

    /** Returns the task of the virtual thread that {@code task} starts; null when it starts none. */
    private static @Nullable Runnable started(GStack st, Runnable task, boolean starts) {
        Thread vt = starts ? JdkThreads.threadOf(task) : JdkState.isNew(st) ? st.thread : null;
        return vt == null ? null : ThreadTask.inside(JdkThreads.task(vt));
    }

    /**
     * Does the work of {@link #execute}.
     *
     * @param traced the trace's number of the place where the thread is started; 0 for none
     * @param place the name of that place, if it is to be recorded; else null
     */
    private static void executeNow(GStack st, Runnable task, int traced, @Nullable String place) {
        GStack caller = GStack.enterChecked();
        try {
            if (st.isMine(task)) {
                if (st.gp != 0) {
                    jdkReady(st);
                } else if (JdkState.isNew(st)) {
                    st.site = place;
                    Newproc.adopt(st.s, st, traced); // This is Thread.start: the first call, and the only one before the thread runs.
                } // Otherwise the stack was dropped, and this is a late interrupt of a goroutine that ran on it.
                return;
            }
            Thread vt = JdkThreads.threadOf(task);
            if (vt == null) {
                Newproc.newproc(st.s, task);
            } else {
                Scheduler s = NamedPools.of(st.s, vt);
                GStack of = (GStack) s.stacks.ofThread(s, vt);
                of.site = place;
                Newproc.adopt(of.s, of, traced);
            }
        } finally {
            GStack.exit(caller);
        }
    }

    /**
     * Leaves a poller thread of the JDK to the JDK's scheduler, because it serves the whole process and outlives this scheduler. Returns
     * whether the task starts such a thread. Takes no P, because the goroutine that starts the thread is in a class initialiser. Other
     * goroutines may wait for the initialiser, and one of these may have the P.
     */
    private static boolean leftToJdk(Runnable task) {
        Thread vt = JdkThreads.threadOf(task);
        if (vt == null || !JdkPollers.isPoller(vt)) {
            return false;
        }
        JdkThreads.leaveToJdk(vt, task);
        return true;
    }

    /**
     * Wakes a thread whose wait in the JDK has reached its time limit. Called on an M, on sysmon, or outside all schedulers. No code of the
     * JDK runs, and nothing is allocated.
     *
     * @param wait the number of the wait; {@link Timeout#PARK} for a park
     */
    static void timedOut(GStack st, int wait) {
        if (wait == Timeout.PARK ? JdkState.unpark(st) : JdkState.endWait(st, wait)) {
            jdkReady(st);
        }
    }

    private static void jdkReady(GStack st) {
        Scheduler s = st.s;
        int n = st.ticket();
        if ((n & 1) == 0 || !JdkState.jdkRunnable(st)) {
            return;
        }
        boolean yielded = JdkState.jdkYielded(st);
        if (!st.closeTicket(n)) {
            return;
        }
        Collected.woken(st);
        long g = st.gp; // The caller owns the G now: the ticket is closed, and the G is in no queue.
        GStatus.casgstatus(g, GStatus.GWAITING, GStatus.GRUNNABLE);
        if (yielded || !Park.onP(s)) {
            HiddenStacks hidden = s.hidden;
            if (hidden != null) {
                hidden.woken(g);
            }
            Reference.reachabilityFence(st);
            TraceEvents.unblocked(s, g);
            SchedLock.lock(s.sched);
            countReady(s); // Under the same acquisition of the lock as the put. Otherwise checkdead could see the G neither counted nor
                           // queued.
            if (yielded) {
                GlobalRunq.globrunqput(s.sched, g);
            } else {
                GlobalRunq.globrunqputahead(s.sched, g);
            }
            SchedLock.unlock(s.sched);
            Wakep.wakep(s);
        } else {
            countReady(s); // The lock is not needed: while this M runs, checkdead finds no deadlock.
            Park.enqueue(s, g, true);
        }
    }

    /**
     * Unparks the goroutine on this stack, because the network poller has found its descriptor ready. The JDK has parked the goroutine, or
     * is about to park it. Called on g0 or sysmon; takes no lock.
     *
     * @return the waiting goroutine, which the caller owns and has to ready; 0 when another wake-up owns it, or when the permit is
     *     enough, because the goroutine was about to park or is parked pinned
     */
    public static long netReady(GStack st) {
        if (JdkState.isPinned(st)) {
            st.waitsPinned = true;
        }
        if (!JdkState.unpark(st)) {
            return 0;
        }
        int n = st.ticket(); // The ticket was opened before the JDK published that the thread is parked.
        if ((n & 1) == 0 || !st.closeTicket(n)) {
            return 0;
        }
        Collected.woken(st); // A stale event may find the goroutine in a later wait, for which its stack was dropped.
        return st.gp;
    }

    private static void countReady(Scheduler s) {
        if (s.config.deadlockDetection()) {
            long _ = Schedt.addNjdkwait(s.sched, -1);
        }
    }
}
