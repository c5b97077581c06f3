// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.sched.Preempt;
import org.gmp4j.sched.Threads;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Recorder;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.SchedStat;

/**
 * Takes a P from a thread, once {@link Retake} has decided to do so. Only sysmon uses this class.
 *
 * <ol>
 * <li>If the goroutine is in a system call, the P is in _Psyscall, and a CAS on its status takes it.
 * <li>If the P is in _Prunning, {@link Gate} changes it to _Psyscall, whether the thread runs or sleeps in the kernel. The CAS follows.
 * <li>Where the kernel has no membarrier, there is no gate. A signal then asks the thread, and its handler changes the P to _Psyscall.
 * </ol>
 */
final class Takeover {
    /**
     * How long, ns, sysmon waits for the answer to a signal before it continues with other Ps. Sysmon sees a later answer at the next scan.
     * A thread that sleeps takes longer, because the signal must wake it first.
     */
    private static final long ANSWER_NANOS = 50_000;
    private static final long WAKE_ANSWER_NANOS = 150_000;
    /**
     * The time, ns, after which sysmon repeats a request that the thread has not seen, because the signal may have gone to other code's
     * handler.
     */
    private static final long ASK_AGAIN_NANOS = 10_000_000;

    private final Scheduler s;
    private final Stalls stalls;

    Takeover(Scheduler s, Stalls stalls) {
        this.s = s;
        this.stalls = stalls;
    }

    /**
     * Takes the P from a system call. Returns false if the call has ended.
     *
     * @param lasts whether the last scan saw the same call. If it did, the goroutine's next call will probably be long, too
     */
    boolean fromCall(long pp, boolean lasts) {
        if (!take(pp, lasts)) {
            return false;
        }
        SchedStat.NRETAKEN.addOpaque(s.sched, 1);
        Recorder.taken(s, pp, Recorder.Taken.SYSCALL, 0, 0);
        return true;
    }

    /**
     * Takes the P from a thread, whose goroutine runs on without a P. Returns whether sysmon is to scan again soon.
     *
     * @param tick the P's schedtick; the P is not taken in another time slice
     * @param running whether the thread runs; otherwise it sleeps in the kernel
     */
    boolean fromThread(Processor pr, long mp, int tick, boolean running) {
        WatchedP r = WatchedP.of(pr);
        r.mp = mp;
        r.tick = tick;
        r.calls = P.SYSCALLTICK.getOpaque(pr.pp);
        r.gp = M.CURG.getOpaque(mp);
        r.goid = r.gp == 0 ? 0 : G.GOID.get(r.gp);
        r.running = running;
        if (Gate.possible()) {
            if (Gate.take(s, mp, tick)) {
                return finish(pr);
            }
            r.mp = 0;
            return false; // The goroutine is inside the runtime, and yields when it leaves the runtime.
        }
        r.handoffs = M.SIGHANDOFF.getOpaque(mp);
        if (!Preempt.handoff(mp, tick)) {
            r.mp = 0;
            return false;
        }
        r.asked = System.nanoTime();
        long end = r.asked + (running ? ANSWER_NANOS : WAKE_ANSWER_NANOS);
        while (!answered(pr)) {
            if (M.SIGREQ.getOpaque(mp) == 0 && PStatus.get(pr.pp) == PStatus.PRUNNING || System.nanoTime() > end) {
                return true; // The request was refused, or is not answered yet. The next scan takes the P or asks again.
            }
            Thread.onSpinWait();
        }
        return finish(pr);
    }

    /** Returns whether the signal of an earlier scan for this M and time slice has not reached the thread yet. */
    static boolean unanswered(Processor pr, long mp, int tick, long now) {
        WatchedP r = WatchedP.of(pr);
        return r.mp == mp && r.tick == tick && M.SIGREQ.getOpaque(mp) != 0 && now - r.asked < ASK_AGAIN_NANOS;
    }

    /**
     * Returns whether the signal handler has released the P as requested, and the goroutine has not used the runtime after that. The
     * handler increments m.sighandoff last.
     */
    static boolean answered(Processor pr) {
        WatchedP r = WatchedP.of(pr);
        return r.mp != 0 && M.SIGHANDOFF.getOpaque(r.mp) != r.handoffs && P.SCHEDTICK.getOpaque(pr.pp) == r.tick
                && P.SYSCALLTICK.getOpaque(pr.pp) == r.calls;
    }

    /**
     * Completes a request that has changed the P to _Psyscall: takes the P, unless the thread has taken it back, and records the stall.
     * Returns true, because sysmon is to scan again soon.
     */
    boolean finish(Processor pr) {
        WatchedP r = WatchedP.of(pr);
        boolean _ = take(pr.pp, !r.running);
        r.mp = 0;
        stalls.add(r);
        Recorder.taken(s, pr.pp, r.running ? Recorder.Taken.RAN : Recorder.Taken.BLOCKED, r.gp, r.goid);
        return true; // If the thread has taken its P back, sysmon is to scan again soon as well: other goroutines still need the P.
    }

    /** Takes a P in _Psyscall, and hands it off. Returns false if the M has taken it back. */
    private boolean take(long pp, boolean lasts) {
        // This store precedes the CAS. The M reads the field when it finds its P gone, which is after the CAS. If sysmon tries to take the
        // P from another M's call before that, it overwrites the field. Then this M's next call hands its P off needlessly, or does not
        // hand it off at once.
        P.LONGCALL.setOpaque(pp, lasts ? 1 : 0);
        if (!PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PIDLE)) {
            return false;
        }
        P.SYSCALLTICK.set(pp, P.SYSCALLTICK.getOpaque(pp) + 1);
        Threads.handoffp(s, pp);
        return true;
    }
}
