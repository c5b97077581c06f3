package org.gmp4j.proc;

import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;

/**
 * Goroutines that run on without a P, which was taken from them by signal: where they were nothing could stop them. A call of
 * the runtime brings them home, to a P and their thread's usual priority. When they have come to code with preemption points
 * those can as well ({@link ArmPoints}), and must: a loop there may call nothing for hours.
 *
 * <p>Sysmon looks for them each 10 ms. It calls one at a time, if that ran since it was last seen: first after 10 ms, then
 * ever more rarely, down to once in a second or so, for a call slows others down a little. The thread has its usual priority
 * while it is called, or nudging it, for which all threads wait, could take as long as other processes leave it no CPU.
 */
final class Strays {
    private static final long SCAN_NANOS = 10_000_000;
    private static final int MAX_DOUBLINGS = 7;
    /** A thread that had less CPU time than this meanwhile sleeps in the kernel, or gets none. */
    private static final long RAN_NANOS = 100_000;
    /** So long a call lasts at most: who sleeps meanwhile comes to no point. */
    private static final long CALL_NANOS = 50_000_000;

    private final Scheduler s;
    private final ArmPoints points;
    private long lastScan;
    /** Who is called; null for nobody. Since when, which of all calls it is, and whether his priority was raised for it. */
    private Machine called;
    private long since;
    private int calls;
    private boolean raised;

    /** What sysmon knows of the stray on an M. */
    static final class Stray {
        /** Which goroutine; 0 for none. */
        private long goid;
        /** The thread's CPU time when it was last looked at; when it may be called next, and how often it was. */
        private long cpu;
        private long next;
        private int doublings;
    }

    Strays(Scheduler s, ArmPoints points) {
        this.s = s;
        this.points = points;
    }

    /** Whether one is called just now: points must be wanted, and sysmon look again soon. */
    boolean calling() {
        return called != null;
    }

    /** A look at all Ms, if it is time. */
    void look(long now) {
        if (called != null) {
            goOn(now);
        }
        if (now - lastScan < SCAN_NANOS) {
            return;
        }
        lastScan = now;
        for (Machine m : s.machines()) {
            if (!astray(m)) {
                m.stray.goid = 0;
            } else if (m != called) {
                found(m, now);
            }
        }
    }

    /** Runs a goroutine, has no P, and is in no system call that it announced. */
    private static boolean astray(Machine m) {
        return M.pOpaque(m.mp) == 0 && M.curgOpaque(m.mp) != 0 && M.incgoOpaque(m.mp) == 0;
    }

    private void found(Machine m, long now) {
        Stray stray = m.stray;
        long gp = M.curgOpaque(m.mp);
        long goid = gp == 0 ? 0 : G.goid(gp);
        if (stray.goid != goid) {
            stray.goid = goid;
            stray.doublings = 0;
            putOff(m, now);
        } else if (now >= stray.next && called == null) {
            if (ThreadState.cpuNanos(m) - stray.cpu >= RAN_NANOS) {
                called = m;
                since = now;
                calls++;
                raise();
                goOn(now);
            } else {
                putOff(m, now);
            }
        }
    }

    private static void putOff(Machine m, long now) {
        Stray stray = m.stray;
        stray.cpu = ThreadState.cpuNanos(m);
        stray.next = now + (SCAN_NANOS << stray.doublings);
        stray.doublings = Math.min(stray.doublings + 1, MAX_DOUBLINGS);
    }

    private void goOn(long now) {
        Machine m = called;
        if (astray(m) && now - since < CALL_NANOS && points.overran(m, -calls, now)) { // No time slice has such a name.
            return;
        }
        called = null;
        putOff(m, now);
        if (raised) {
            lowerAgain(m);
        }
    }

    /** {@code m.demoted} stays: when it comes home it need not know. */
    private void raise() {
        raised = M.demotedOpaque(called.mp) != 0;
        if (raised) {
            schedule(called, OsThread.SCHED_IDLE, OsThread.SCHED_OTHER);
        }
    }

    /** As {@link Retake} does: lowered, said so, and undone if it came home before it could know. */
    private void lowerAgain(Machine m) {
        if (!astray(m) || s.machine(m.mp) != m) { // Or its struct is another M's by now.
            return;
        }
        schedule(m, OsThread.SCHED_OTHER, OsThread.SCHED_IDLE);
        M.setDemotedOpaque(m.mp, 1);
        VarHandle.fullFence();
        if (!astray(m)) {
            M.setDemotedOpaque(m.mp, 0);
            schedule(m, OsThread.SCHED_IDLE, OsThread.SCHED_OTHER);
        }
    }

    private static void schedule(Machine m, int from, int to) {
        int tid = (int) M.procid(m.mp);
        try {
            if (tid != 0 && OsThread.scheduler(tid) == from) { // Else somebody gave it a policy of its own.
                OsThread.setScheduler(tid, to, 0);
            }
        } catch (NativeException e) {
            // The thread ended.
        }
    }
}
