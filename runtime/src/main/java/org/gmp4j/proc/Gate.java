// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

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
 * The gate between a thread and its P, {@code m.gate}: how sysmon, or whoever stops the world, takes the P of a goroutine
 * that is in its own code or asleep in the kernel, without a signal. A signal would end the goroutine's {@code usleep},
 * {@code poll} or {@code sem_timedwait} early; a thread that waits for a disk or blocks signals does not see it; and a thread that
 * waits for a CPU sees it only when it gets one.
 *
 * <pre>
 *  SHUT -> OPEN      the thread, with m.locks raised: it attaches a P
 *  any -> SHUT       the thread, with m.locks raised: it gives its P up; or the signal handler, on that thread
 *  OPEN -> ASKED     the taker, by CAS
 *  ASKED -> OPEN     the thread as it raises m.locks: it needs its P itself; or the taker, which finds m.locks raised; by CAS
 *  ASKED -> TAKING   the taker, by CAS, when after the membarrier m.locks is 0
 *  TAKING -> SHUT    the taker, by release, when the P is in _Psyscall and the goroutine in _Gsyscall
 *  TAKING -> OPEN    the taker, by release: the time slice was not the one it meant
 * </pre>
 *
 * <p>Why it is safe. The thread uses its P only while m.locks > 0, and after it has raised m.locks it looks at the gate; the
 * taker makes the gate ASKED, and then looks at m.locks. This is Dekker's pattern, which needs a full fence between the
 * store and the load on both sides. The thread's side is {@link GStack#acquirem}, the hottest code there is, and has none:
 * the taker's membarrier runs one on the thread's CPU. So if the thread raises m.locks while a taker is at work,
 * <ul>
 * <li>either the raise came before the fence on its CPU: the taker sees m.locks raised, and gives up; or the thread has
 * lowered it since, and the taker then sees what the thread did to the P (release, acquire);
 * <li>or the raise comes after the fence: the thread sees ASKED or TAKING, and refuses, or waits until the taker is done.
 * </ul>
 * From TAKING on the taker has the M's words to itself. It does what the handler would do on the thread
 * ({@code preempt.c}), and the goroutine later finds its gate shut, as after a system call.
 *
 * <p>With m.locks raised the thread writes to the gate by plain stores, which may overwrite ASKED: the taker's next CAS
 * then fails. They cannot overwrite TAKING, as no taker gets there while m.locks is raised. Nor can such a store arrive late: either
 * it is before the fence, and seen, or it follows a raise that is after the fence, and that raise waits.
 *
 * <p>Two takers at a time would break this: one could go on with the ASKED of the other, which is later than its own fence. So
 * there is one at a time; another gives up and tries again later.
 *
 * <p>Rejected: to revoke m.p itself, which the thread reads over and over between raise and release; a flag beside m.p, which
 * means a second load and branch in each acquirem; a fence in acquirem, which takes 5 to 8 ns where all of acquirem takes 2.
 */
public final class Gate {
    private static final int SPINS = 200;
    private static final long WAIT_NANOS = 20_000;

    private Gate() {
    }

    /**
     * On the thread of {@code mp}, which has raised m.locks and not found the gate open: whether it has its P after all.
     * Afterwards the thread sees what the taker wrote.
     */
    static boolean pass(long mp) {
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
                default -> { // The taker is a few stores from the end, but may wait for a CPU.
                    if (i < SPINS) {
                        Thread.onSpinWait();
                    } else {
                        int _ = Futex.await(M.gateAddress(mp), M.GATE_TAKING, WAIT_NANOS);
                    }
                }
            }
        }
    }

    /** Whether {@link #take} works in this process; else the handler does it. */
    public static boolean possible() {
        return Membarrier.isAvailable();
    }

    /**
     * Takes the P of {@code mp} if its goroutine is not inside the runtime and still in time slice {@code tick}. The P is in
     * _Psyscall then, where its thread may take it back. From any thread.
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

    /** entersyscall, from outside. */
    private static boolean takeP(Scheduler s, long mp, int tick) {
        long pp = M.P.getOpaque(mp);
        long gp = M.CURG.getOpaque(mp);
        if (pp == 0 || gp == 0 || P.SCHEDTICK.getOpaque(pp) != tick
                || !GStatus.casgstatusOnce(gp, GStatus.GRUNNING, GStatus.GSYSCALL)) { // Held by a scan: come again.
            return false;
        }
        Tracer t = s.tracer;
        EventRing trace = t == null ? null : t.ring(P.ID.get(pp)); // It belongs to the taker, as the P does.
        if (trace != null) {
            trace.stop(Ev.TAKEN, 0, G.GOID.get(gp));
        }
        M.OLDP.set(mp, pp);
        P.M.setOpaque(pp, 0);
        M.P.setOpaque(mp, 0);
        M.TAKEN.setOpaque(mp, M.TAKEN.getOpaque(mp) + 1);
        PStatus.setVolatile(pp, PStatus.PSYSCALL); // Last: from here on anybody may have it.
        return true;
    }
}
