// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.events.Ev;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GFree;
import org.gmp4j.queue.Runq;
import org.gmp4j.stack.JdkState;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * {@code goexit0}: the end of a goroutine, when its function, its deferred work and its reports are done ({@link Ends}). Which
 * way it takes depends on its stack.
 *
 * <pre>
 *  stack                       the next G   on that stack                       on g0
 *  pooled                      fresh        {@link #goexit0}, and the next begins there    -
 *  pooled                      another      {@link #goexit0}, yields with GOEXIT           {@link #exited}: the stack is the P's
 *  pooled, no memory to yield  another      {@link #goexit0}, the virtual thread ends      {@link #ended}: the stack is dropped
 *  a thread with an identity   -            the JDK ends the thread             {@link #ended}, which wakes its joiners
 * </pre>
 *
 * If a goroutine ends while it is locked to its thread, the thread ends too. A dead G goes to the free list of the P it died on.
 */
final class Goexit0 {
    private Goexit0() {
    }

    /**
     * Ends the goroutine on {@code st}, on that stack, and starts the next in place if it is fresh.
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

    /** On g0: the goroutine has ended and no other begins in place; the stack is kept for the next fresh G. */
    static long exited(Machine m, GStack st) {
        long pick = m.pick;
        m.pick = 0;
        JdkState.toWaiting(st);
        if (M.LOCKEDEXT.get(m.mp) != 0) {
            Threads.mexit(m); // The goroutine ended locked to its thread, so the thread ends too.
        }
        Processor pr = m.s.proc(m.pp());
        boolean _ = pr.give(st); // If there are enough free stacks this one is dropped, and the collector takes it.
        return pick;
    }

    /** The virtual thread is done: an adopted one, or a pooled one that could not yield. */
    static long ended(Machine m, GStack st, int op) {
        long pick = 0;
        if (op == Mcall.GOEXIT) {
            pick = m.pick;
            m.pick = 0;
        } else {
            dead(m, st.gp);
            if (!st.pooled && !JdkState.afterDone(st)) { // A pooled one was never started as a thread: nobody joins it.
                m.s.leftovers.add(m.s.sched, st);
            }
        }
        if (M.LOCKEDEXT.get(m.mp) != 0) {
            Threads.mexit(m); // As exited does. No pick: an M that is locked takes none.
        }
        return pick;
    }

    /** The G is dead; its slot goes to the P's free list. The order keeps G2: first not running, then off the M. */
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
