// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.proc.Gate;
import org.gmp4j.proc.Preempt;
import org.gmp4j.proc.Processor;
import org.gmp4j.proc.Recorder;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Threads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.SchedStat;

/**
 * How sysmon takes a P, once {@link Retake} has decided that it does: from a system call by a CAS on its status; from a thread that runs,
 * or sleeps in the kernel, by {@link Gate}, which leaves the P in _Psyscall, and then the same. Where the kernel has no membarrier there
 * is no gate: a signal asks the thread, whose handler does that.
 */
final class Takeover {
    /**
     * How long a request by signal may take before sysmon looks elsewhere; it is answered at the next look. A thread that
     * sleeps must be woken to answer.
     */
    private static final long ANSWER_NANOS = 50_000;
    private static final long WAKE_ANSWER_NANOS = 150_000;
    /** A request that the thread has not seen stands for this long: the signal may have gone to other code's handler. */
    private static final long ASK_AGAIN_NANOS = 10_000_000;

    private final Scheduler s;
    private final Stalls stalls;

    Takeover(Scheduler s, Stalls stalls) {
        this.s = s;
        this.stalls = stalls;
    }

    /**
     * From a system call; whether it was still there.
     *
     * @param lasts whether the call was there at the look before: the goroutine's next one will probably last, too
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
     * From a thread, where its goroutine stands, which runs on without. Whether sysmon is to look again soon.
     *
     * @param running whether it runs; else it sleeps in the kernel
     */
    boolean fromThread(Processor pr, long mp, int tick, boolean running) {
        Request r = Request.of(pr);
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
            return false; // It is inside the runtime, from where it yields.
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
                return true; // Refused, or not answered yet: the next look, soon, takes the P or asks again.
            }
            Thread.onSpinWait();
        }
        return finish(pr);
    }

    /** Whether the request of an earlier look has yet to reach the thread. */
    static boolean unanswered(Processor pr, long mp, int tick, long now) {
        Request r = Request.of(pr);
        return r.mp == mp && r.tick == tick && M.SIGREQ.getOpaque(mp) != 0 && now - r.asked < ASK_AGAIN_NANOS;
    }

    /** Whether the handler gave the P up as asked: it counts that last, and the goroutine has not come back, or made a call, since. */
    static boolean answered(Processor pr) {
        Request r = Request.of(pr);
        return r.mp != 0 && M.SIGHANDOFF.getOpaque(r.mp) != r.handoffs && P.SCHEDTICK.getOpaque(pr.pp) == r.tick
                && P.SYSCALLTICK.getOpaque(pr.pp) == r.calls;
    }

    /** The P of a thread is in _Psyscall, and its goroutine may be coming back already. */
    boolean finish(Processor pr) {
        Request r = Request.of(pr);
        boolean _ = take(pr.pp, !r.running);
        r.mp = 0;
        stalls.add(r);
        Recorder.taken(s, pr.pp, r.running ? Recorder.Taken.RAN : Recorder.Taken.BLOCKED, r.gp, r.goid);
        return true; // Also when the thread was faster: it blocks others, so look again soon.
    }

    /** From _Psyscall; the M may be coming back at this moment. */
    private boolean take(long pp, boolean lasts) {
        // Before the CAS, by which the M learns that it is gone. By the time it reads this, another call with the P may have had its own
        // written here: then its next call gives the P away for nothing, or not at once.
        P.LONGCALL.setOpaque(pp, lasts ? 1 : 0);
        if (!PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PIDLE)) {
            return false;
        }
        P.SYSCALLTICK.set(pp, P.SYSCALLTICK.getOpaque(pp) + 1);
        Threads.handoffp(s, pp);
        return true;
    }
}
