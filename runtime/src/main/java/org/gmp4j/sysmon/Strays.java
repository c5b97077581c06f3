// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.agent.Points;
import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Strays: goroutines that run on without a P, which was taken from them because nothing could stop them where they were. When a stray
 * calls the runtime it gets a P again: an idle one, or its turn at the end of the global queue. When it has come to code with preemption
 * points, one of these can make it call the runtime ({@link ArmPoints}), and has to: a loop there may call nothing for hours.
 *
 * <p>To call a stray is to have it come to a point. Sysmon looks for strays at most every 10 ms, and calls one at a time: first after
 * 10 ms, then ever more rarely, down to once in 1.3 s, for a call slows others down a little. It calls only threads that have used a good
 * part of a CPU since the last look. A thread that sleeps in the kernel comes to no point; and a thread that gets no CPU, because others
 * of a higher priority use it all, would keep sysmon waiting, as a nudge is over only when each thread has taken part. (So none is called
 * while more than {@value #GOOD_PART} share each CPU.) Only sysmon uses this class.
 */
final class Strays {
    private static final long SCAN_NANOS = 10_000_000;
    private static final int MAX_DOUBLINGS = 7;
    /** A good part of a CPU is the elapsed time divided by this. */
    private static final int GOOD_PART = 4;
    private static final long CALL_NANOS = 50_000_000;

    private final Scheduler s;
    private final ArmPoints points;
    private long lastScan;
    /** Where in the list of Ms the next to be called may be. */
    private int from;
    /** The M of the stray that is called; null for none. Below it, since when, and the number of the call. */
    private @Nullable Machine called;
    private long since;
    private int calls;
    /** Whether there was one at the last scan. */
    private boolean any;

    /** What sysmon knows of the stray on an M. */
    static final class Stray {
        /** Which goroutine; 0 for none. */
        private long goid;
        /** When it was last looked at, and its thread's CPU time then. */
        private long seen;
        private long cpu;
        /** When it may be called next, and how often that was put off. */
        private long next;
        private int doublings;

        private void see(Machine m, long now) {
            seen = now;
            cpu = ThreadState.cpuNanos(m);
        }

        private boolean ran(Machine m, long now) {
            return ThreadState.cpuNanos(m) - cpu >= (now - seen) / GOOD_PART;
        }

        private void putOff(Machine m, long now) {
            see(m, now);
            next = now + (SCAN_NANOS << doublings);
            doublings = Math.min(doublings + 1, MAX_DOUBLINGS);
        }
    }

    Strays(Scheduler s, ArmPoints points) {
        this.s = s;
        this.points = points;
    }

    /** Whether one is called just now: points must be wanted, and sysmon look again soon. */
    boolean calling() {
        return called != null;
    }

    /** Whether there was one at the last scan. */
    boolean any() {
        return any;
    }

    /** Looks at the stray that is called, and at all Ms if it is time; does nothing while the world is stopped. */
    void look(long now) {
        boolean stopped = Schedt.GCWAITING.getAcquire(s.sched) != 0;
        if (called != null) {
            goOn(called, now, stopped);
        }
        if (stopped || now - lastScan < SCAN_NANOS || !Points.any()) {
            return;
        }
        lastScan = now;
        Machine[] all = s.machines();
        int first = from;
        any = false;
        for (int i = 0; i < all.length; i++) {
            int at = (first + i) % all.length;
            Machine m = all[at];
            if (!m.astray()) {
                WatchedM.of(m).stray.goid = 0;
                continue;
            }
            any = true;
            if (m != called && found(m, now)) {
                from = at + 1;
                goOn(m, now, false);
            }
        }
    }

    /** How many of them want a CPU. */
    int running() {
        int n = 0;
        for (Machine m : s.machines()) {
            n += m.astray() && ThreadState.runs(m) ? 1 : 0;
        }
        return n;
    }

    /** The M has a stray: whether that is to be called. */
    private boolean found(Machine m, long now) {
        long gp = M.CURG.getOpaque(m.mp);
        if (gp == 0) {
            return false;
        }
        Stray stray = WatchedM.of(m).stray;
        long goid = G.GOID.get(gp);
        if (stray.goid != goid) {
            stray.goid = goid;
            stray.doublings = 0;
            stray.putOff(m, now);
        } else if (now >= stray.next && called == null) {
            if (stray.ran(m, now)) {
                called = m;
                since = now;
                calls++;
                stray.see(m, now);
                return true;
            }
            stray.putOff(m, now);
        }
        return false;
    }

    private void goOn(Machine m, long now, boolean stopped) {
        Stray stray = WatchedM.of(m).stray;
        boolean sleeps = now - since >= SCAN_NANOS && !stray.ran(m, now);
        if (stopped || sleeps || now - since >= CALL_NANOS || !m.astray()
                || !points.overran(m, -calls)) { // No time slice has such a name.
            called = null;
            stray.putOff(m, now);
        }
    }
}
