// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.agent.Points;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Brings strays to preemption points. A stray is a goroutine that runs on after its P was taken, because nothing could stop it. When a
 * stray enters the runtime it takes an idle P, or goes to the end of {@code sched.arrived}. A loop can run for hours without
 * entering the runtime. So once a stray has come to code with preemption points, a point must make it enter the runtime
 * ({@link ArmPoints}).
 *
 * <p>In this class, to call a stray means to try to bring it to a point. Sysmon scans for strays at most every 10 ms, and calls one stray
 * at a time. A call slows other goroutines down a little, so a stray is first called after 10 ms, and then at intervals that double up to
 * 1.3 s. Sysmon calls only strays whose threads have used at least 1/{@value #GOOD_PART} of a CPU since the last scan, for two reasons. A
 * thread that sleeps in the kernel reaches no point. And a nudge ends only when each thread has taken part, so a thread that gets no CPU,
 * because threads of a higher priority use all CPUs, would delay sysmon. It follows that sysmon calls no stray while more than
 * {@value #GOOD_PART} threads share each CPU. Only sysmon uses this class.
 */
final class Strays {
    private static final long SCAN_NANOS = 10_000_000;
    private static final int MAX_DOUBLINGS = 7;
    /** Sysmon calls a stray only if its thread's CPU time is at least the elapsed time divided by this number. */
    private static final int GOOD_PART = 4;
    /** The greatest duration of a call, ns. */
    private static final long CALL_NANOS = 50_000_000;

    private final Scheduler s;
    private final ArmPoints points;
    private long lastScan;
    /** The index in the list of Ms at which the next scan begins. */
    private int from;
    /** The M of the stray that sysmon is calling; null if there is none. */
    private @Nullable Machine called;
    /** The nanoTime at which the last call of a stray began. */
    private long since;
    /** The number of calls of strays so far, which is also the number of the last call. */
    private int calls;
    /** Whether the last scan found a stray. */
    private boolean any;

    /** Sysmon's record of the stray on an M. */
    static final class Stray {
        /** The id of the goroutine; 0 if the M has no stray. */
        private long goid;
        /** The nanoTime at which {@link #cpu} was last read. */
        private long seen;
        /** The CPU time of the stray's thread at {@link #seen}, ns. */
        private long cpu;
        /** The nanoTime before which the stray is not called. */
        private long next;
        /** The number of times that the interval between calls has doubled. */
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

    /** Returns whether sysmon is calling a stray. Then the switch of the points must be set, and sysmon must scan again soon. */
    boolean calling() {
        return called != null;
    }

    /** Returns whether the last scan found a stray. */
    boolean any() {
        return any;
    }

    /** Continues the call of a stray, and scans all Ms if it is time. While the world is stopped it only ends the call. */
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

    /** Records the stray on the M. Returns whether to call it now. */
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

    /**
     * Continues the call of the M's stray. Ends the call if the world is stopped, if the thread sleeps, if the goroutine is no stray any
     * more, if no point can stop it, or if the call takes too long.
     */
    private void goOn(Machine m, long now, boolean stopped) {
        Stray stray = WatchedM.of(m).stray;
        boolean sleeps = now - since >= SCAN_NANOS && !stray.ran(m, now);
        if (stopped || sleeps || now - since >= CALL_NANOS || !m.astray()
                || !points.overran(m, -calls)) { // Numbers of time slices are never negative.
            called = null;
            stray.putOff(m, now);
        }
    }
}
