// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.events.Ev;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GFree;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.stack.JdkState;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * {@code goexit0}: the end of a goroutine, after its function, its deferred work and its report ({@link GoroutineExit}). The steps depend
 * on the goroutine's stack and on the G that the P runs next.
 *
 * <pre>
 *  stack                       the next G   on that stack                         on g0
 *  pooled                      fresh        {@link #goexit0}: the next G begins there            -
 *  pooled                      another      {@link #goexit0}: the stack yields with GOEXIT       {@link #exited}: the P keeps the stack
 *  pooled, no memory to yield  another      {@link #goexit0}: the virtual thread ends            {@link #ended}: the stack is dropped
 *  a thread with an identity   -            the JDK ends the thread               {@link #ended}: it wakes the thread's joiners
 * </pre>
 *
 * If a goroutine ends while it is locked to its thread, the thread ends too. A dead G goes to the free list of the P on which it ended.
 * Without a P it goes to the global free list.
 */
final class Goexit0 {
    private Goexit0() {
    }

    /**
     * Ends the goroutine on {@code st}, and starts the next one there if it is fresh. Called on that stack.
     *
     * @return true when the stack has its next goroutine; false when it must yield with {@link Mcall#GOEXIT}
     */
    static boolean goexit0(GStack st) {
        Machine m = st.machine();
        long gp = st.gp;
        dead(m, gp);
        long pick = FindRunnable.pickLocal(m);
        long next = pick & ~Runq.INHERIT;
        if (next == 0 || G.HASSTACK.get(next) != 0) {
            m.op = Mcall.GOEXIT;
            m.pick = pick;
            return false;
        }
        Schedule.begin(m, next, Mcall.inherits(pick));
        Newproc.give(next, st);
        long pp = m.pp();
        P.NINPLACE.setOpaque(pp, P.NINPLACE.getOpaque(pp) + 1);
        return true;
    }

    /**
     * Keeps a stack for a fresh G that begins later. The stack's goroutine has ended. Called on g0 if {@link #goexit0} returned false,
     * because there was no fresh G to run next.
     *
     * @return the G to run next, with Runq.INHERIT; 0 to take one from the queues
     */
    static long exited(Machine m, GStack st) {
        long pick = m.pick;
        m.pick = 0;
        JdkState.toWaiting(st);
        if (M.LOCKEDEXT.get(m.mp) != 0) {
            Threads.mexit(m); // The goroutine was still locked to its thread, so the thread ends too.
        }
        boolean _ = m.s.proc(m.pp()).give(st); // If there are enough free stacks, this one is left to the collector.
        return pick;
    }

    /**
     * Ends a goroutine whose virtual thread has ended. It is an adopted thread, or a pooled thread that could not yield. Called on g0.
     *
     * @return the G to run next, with Runq.INHERIT; 0 to take one from the queues
     */
    static long ended(Machine m, GStack st, int op) {
        long pick = 0;
        if (op == Mcall.GOEXIT) {
            pick = m.pick;
            m.pick = 0;
        } else {
            dead(m, st.gp);
            if (!st.pooled) { // A pooled virtual thread was never started as a thread, so it has no joiners.
                wakeJoiners(m, st);
            }
        }
        if (M.LOCKEDEXT.get(m.mp) != 0) {
            Threads.mexit(m); // As in exited. Here pick is 0, because a locked M takes no other G.
        }
        return pick;
    }

    private static void wakeJoiners(Machine m, GStack st) {
        if (JdkState.endsAtMonitor(st) && m.pp() != 0) {
            Threads.handoffp(m.s, Threads.releasep(m)); // The holder of the monitor may be a goroutine that needs this P to run.
        }
        if (!JdkState.afterDone(st)) {
            m.s.leftovers.add(m.s.sched, st);
        }
    }

    /**
     * Makes the G dead and puts its slot on a free list. The order keeps invariant G2: the status changes to dead before G and M are
     * unbound.
     */
    private static void dead(Machine m, long gp) {
        long pp = m.pp();
        if (pp == 0) {
            m.s.traceOutside(Ev.END, 0, gp);
        } else if (m.trace != null) {
            m.trace.stop(Ev.END, 0, G.GOID.get(gp));
        }
        GStatus.casgstatus(gp, pp == 0 ? GStatus.GSYSCALL : GStatus.GRUNNING, GStatus.GDEAD);
        Schedule.dropg(m, gp);
        GSlots.setFn(gp, null);
        GSlots.setStack(gp, null);
        G.HASSTACK.set(gp, 0);
        G.LOCKEDM.setOpaque(gp, 0);
        G.PARAM.set(gp, 0);
        if (pp != 0) {
            GFree.gfput(m.s.sched, pp, gp);
            P.NEXIT.setRelease(pp, P.NEXIT.get(pp) + 1);
        } else {
            SchedLock.lock(m.s.sched);
            GFree.putGlobal(m.s.sched, gp);
            SchedLock.unlock(m.s.sched);
            long _ = Schedt.addNexitextern(m.s.sched, 1);
        }
        if (Schedt.CLOSING.getAcquire(m.s.sched) != 0) {
            m.s.exitedWhileClosing();
        }
    }
}
