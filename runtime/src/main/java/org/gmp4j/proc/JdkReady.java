// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.stack.JdkState;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;

/**
 * The JDK's wake-ups of a virtual thread that is a goroutine. When the JDK parks the thread (a lock, a monitor, a socket), the M
 * makes the G {@code _Gwaiting}, opens the {@link GStack#ticket ticket} (odd), and only then calls the JDK's afterYield, which
 * publishes PARKED (or BLOCKED, WAIT, …). From then on {@link #execute} may come from any thread: on time, late, or twice (a stack
 * dump resubmits what it held up; an unparker may be descheduled between its CAS and its call). A call that finds the ticket
 * even, or the thread not runnable, is stale and does nothing; of those that find ticket n odd and the thread runnable,
 * the one that moves the ticket to n+1 has the wake-up and readies the G. ({@link Collected}: threads that nothing can wake any more.)
 *
 * <p>Nothing is lost: the thread becomes runnable only by the JDK's CAS from a state that afterYield set, hence after the
 * ticket was opened, and each such CAS is followed by a call. Nothing is doubled: a ticket is closed once. A plain CAS on
 * the G's status instead would not do: a stale call could hit the next wait of the same G, on a channel, say.
 */
final class JdkReady {
    private static final VarHandle TICKET = FieldHandle.of(MethodHandles.lookup(), GStack.class, "ticket", int.class);

    private JdkReady() {
    }

    /** Opens the ticket: the JDK is about to publish that the thread waits. */
    static void jdkParking(GStack st) {
        st.ticket++; // Written here only while even, by the M in whose hands the G is.
    }

    /**
     * The JDK has made the thread runnable, so this must not fail: without room on the caller's stack it is left to sysmon.
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
        if (starts && outside && Headroom.enough()) {
            st.s.collected.help();
        }
        if (!outside || Headroom.enough() || !Deferred.add(new Deferred.Wakeup(st, task))) {
            executeNow(st, task);
        }
    }

    /** The same, with room on the caller's stack or on a thread that must not fail. */
    static void executeNow(GStack st, Runnable task) {
        GStack caller = GStack.enterChecked();
        try {
            if (st.isMine(task)) {
                if (st.gp != 0) {
                    jdkReady(st);
                } else if (JdkState.isNew(st)) {
                    Newproc.adopt(st.s, st); // Thread.start: the first call, and the only one before the thread runs.
                } // Else the stack was dropped, and this is a late interrupt of a goroutine that ran on it.
                return;
            }
            Thread vt = JdkThreads.threadOf(task);
            if (vt == null) {
                Newproc.newproc(st.s, task);
            } else {
                Newproc.adopt(st.s, Stacks.ofThread(st.s, vt));
            }
        } finally {
            GStack.exit(caller);
        }
    }

    /**
     * A poller of the JDK serves the whole process, and outlives this scheduler: it goes to the JDK's. The goroutine that starts it is
     * in a class initialiser that others wait for, and may have lost its P to one of those: so this does not take a P.
     */
    private static boolean leftToJdk(Runnable task) {
        Thread vt = JdkThreads.threadOf(task);
        if (vt == null || !JdkPollers.isPoller(vt)) {
            return false;
        }
        JdkThreads.leaveToJdk(vt, task);
        return true;
    }

    /** The limit of a park has passed, on an M or sysmon; takes no lock of the JDK's. */
    static void parkTimedOut(GStack st) {
        if (JdkState.unpark(st)) {
            jdkReady(st);
        }
    }

    private static void jdkReady(GStack st) {
        Scheduler s = st.s;
        int n = (int) TICKET.getVolatile(st);
        if ((n & 1) == 0 || !JdkState.jdkRunnable(st)) {
            return;
        }
        boolean yielded = JdkState.jdkYielded(st);
        if (!TICKET.compareAndSet(st, n, n + 1)) {
            return;
        }
        Collected.woken(st);
        long g = st.gp; // Ours: the ticket is closed and the G is on no queue.
        GStatus.casgstatus(g, GStatus.GWAITING, GStatus.GRUNNABLE);
        if (yielded || !Park.onP(s)) {
            HiddenStacks.woken(s, g);
            Reference.reachabilityFence(st);
            Tracing.unblocked(s, g);
            SchedLock.lock(s.sched);
            countReady(s); // In one hold of the lock with the queueing, or checkdead could look when the G is neither counted nor queued.
            GlobalRunq.globrunqput(s.sched, g);
            SchedLock.unlock(s.sched);
            Wakep.wakep(s);
        } else {
            countReady(s); // This M runs: no deadlock.
            Park.enqueue(s, g, true);
        }
    }

    /**
     * The network poller found ready what this stack's goroutine waits for, parked by the JDK or about to be. On g0 or sysmon;
     * takes no lock.
     *
     * @return the goroutine, waiting and now the caller's, which is to ready it; 0 when it will go on by itself, or another wake-up
     *     has it
     */
    static long netReady(GStack st) {
        if (JdkState.isPinned(st)) {
            st.waitsPinned = true;
        }
        if (!JdkState.unpark(st)) {
            return 0;
        }
        int n = (int) TICKET.getVolatile(st); // Opened before the JDK published that it is parked.
        if ((n & 1) == 0 || !TICKET.compareAndSet(st, n, n + 1)) {
            return 0;
        }
        Collected.woken(st); // An event that is stale finds the goroutine in a later wait, for which its stack may be dropped.
        return st.gp;
    }

    private static void countReady(Scheduler s) {
        if (s.config.deadlockDetection()) {
            long _ = Schedt.addNjdkwait(s.sched, -1);
        }
    }
}
