// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.events.Ev;
import org.gmp4j.events.EventRing;
import org.gmp4j.events.Tracer;
import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Membarrier;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;

/**
 * The gate between a thread and its P, {@code m.gate}. Through it sysmon, or a thread that stops the world, takes the P from a goroutine
 * without a signal. The goroutine may be in its own code or asleep in the kernel. A signal would end the goroutine's {@code usleep},
 * {@code poll} or {@code sem_timedwait} early. A thread that waits for a disk or blocks signals would not see the signal. A thread that
 * waits for a CPU would see the signal only when it gets one.
 *
 * <pre>
 *  SHUT -> OPEN      the thread, with m.locks raised, when it attaches a P
 *  any -> SHUT       the thread, with m.locks raised, when it gives its P up; or the signal handler, on that thread
 *  OPEN -> ASKED     the taker, by CAS
 *  ASKED -> OPEN     by CAS: the thread as it raises m.locks, because it needs its P; or the taker, if it finds m.locks raised
 *  ASKED -> TAKING   the taker, by CAS, if after the membarrier m.locks is 0
 *  TAKING -> SHUT    the taker, by release, when the P is in _Psyscall and the goroutine in _Gsyscall
 *  TAKING -> OPEN    the taker, by release, if the time slice of the request is over, or the G is being scanned
 * </pre>
 *
 * <p>The protocol is safe. The thread uses its P only while m.locks > 0, and after it has raised m.locks it reads the gate. The taker makes
 * the gate ASKED, and then reads m.locks. This is Dekker's pattern, which needs a full fence between the store and the load on both sides.
 * The thread's side is {@code GStack.acquirem}, the hottest code there is, and has none. Instead the taker's membarrier runs a fence on the
 * thread's CPU. So if the thread raises m.locks while a taker is at work,
 * <ul>
 * <li>either the raise came before the fence on its CPU. Then the taker sees m.locks raised, and gives up; or the thread has lowered
 * m.locks again, and the taker sees all that the thread did to the P (release, acquire);
 * <li>or the raise comes after the fence. Then the thread sees ASKED and refuses, or sees TAKING and waits until the taker has finished.
 * </ul> In TAKING only the taker accesses the M's words. It takes the steps that the handler would take on the thread ({@code preempt.c}).
 * The goroutine later finds its gate shut, as after a system call.
 *
 * <p>With m.locks raised the thread writes the gate by plain stores, which may overwrite ASKED. Then the taker's next CAS fails. These
 * stores cannot overwrite TAKING, because no taker enters that state while m.locks is raised. Nor can such a store arrive late, and
 * overwrite TAKING then. Either it precedes the fence, and the taker sees it. Or it follows a raise that comes after the fence, and that
 * raise waits for the taker.
 *
 * <p>Two takers at a time would break this. Taker A could continue from an ASKED that taker B has written after A's fence. So there is one
 * taker at a time. A second taker gives up and tries again later.
 *
 * <p>Rejected: to revoke m.p itself, because the thread reads it repeatedly while m.locks is raised. Rejected too: a flag in addition to
 * m.p, which needs a second load and branch in each acquirem. Rejected too: a fence in acquirem, which costs more than all other
 * instructions of acquirem.
 */
public final class Gate {
    private static final int SPINS = 200;
    private static final long WAIT_NANOS = 20_000;

    private Gate() {
    }

    /**
     * Returns whether the calling thread still has its P. Called on the thread of {@code mp} after it has raised m.locks and found the
     * gate not open. Waits for a taker that is at work. Afterwards the thread sees all that the taker wrote.
     */
    public static boolean pass(long mp) {
        for (int i = 0;; i++) {
            switch (M.GATE.getVolatile(mp)) {
                case M.GATE_OPEN -> {
                    return true;
                }
                case M.GATE_SHUT -> {
                    return false;
                }
                case M.GATE_ASKED -> {
                    if (M.GATE.compareAndSet(mp, M.GATE_ASKED, M.GATE_OPEN)) {
                        return true;
                    }
                }
                default -> { // TAKING: the taker has only a few stores left, but may have lost its CPU.
                    if (i < SPINS) {
                        Thread.onSpinWait();
                    } else {
                        int _ = Futex.await(M.gateAddress(mp), M.GATE_TAKING, WAIT_NANOS);
                    }
                }
            }
        }
    }

    /** Returns whether {@link #take} works in this process. If it does not, the signal handler takes Ps. */
    public static boolean possible() {
        return Membarrier.isAvailable();
    }

    /**
     * Takes the P of {@code mp} if its goroutine is not inside the runtime and still in time slice {@code tick}. Returns whether it did.
     * Then the P is in _Psyscall, and its thread may take it back by CAS. Called from any thread.
     */
    public static boolean take(Scheduler s, long mp, int tick) {
        if (mp == 0 || M.LOCKS.getOpaque(mp) != 0 || !s.taker.compareAndSet(false, true)) {
            return false;
        }
        try {
            if (!M.GATE.compareAndSet(mp, M.GATE_OPEN, M.GATE_ASKED)) {
                return false;
            }
            Membarrier.run();
            if (M.LOCKS.getAcquire(mp) != 0 || !M.GATE.compareAndSet(mp, M.GATE_ASKED, M.GATE_TAKING)) {
                boolean _ = M.GATE.compareAndSet(mp, M.GATE_ASKED, M.GATE_OPEN);
                return false;
            }
            boolean took = takeP(s, mp, tick);
            M.GATE.setRelease(mp, took ? M.GATE_SHUT : M.GATE_OPEN);
            return took;
        } finally {
            s.taker.set(false);
        }
    }

    /** In TAKING, does the work of entersyscall for the thread of {@code mp} in time slice {@code tick}. Returns whether it did. */
    private static boolean takeP(Scheduler s, long mp, int tick) {
        long pp = M.P.getOpaque(mp);
        long gp = M.CURG.getOpaque(mp);
        if (pp == 0 || gp == 0 || P.SCHEDTICK.getOpaque(pp) != tick
                || !GStatus.casgstatusOnce(gp, GStatus.GRUNNING, GStatus.GSYSCALL)) { // The G is being scanned. The caller tries again.
            return false;
        }
        Tracer t = s.tracer;
        EventRing trace = t == null ? null : t.ring(P.ID.get(pp)); // The ring belongs to the taker now, as the P does.
        if (trace != null) {
            trace.stop(Ev.TAKEN, 0, G.GOID.get(gp));
        }
        M.OLDP.set(mp, pp);
        P.M.setOpaque(pp, 0);
        M.P.setOpaque(mp, 0);
        M.TAKEN.setOpaque(mp, M.TAKEN.getOpaque(mp) + 1);
        PStatus.setVolatile(pp, PStatus.PSYSCALL); // This comes last, because from now on any thread may take the P.
        return true;
    }
}
