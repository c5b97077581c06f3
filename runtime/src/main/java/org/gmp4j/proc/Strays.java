package org.gmp4j.proc;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

import org.gmp4j.struct.G;
import org.gmp4j.struct.M;

/**
 * Goroutines that run on without the P that sysmon took from them by signal: where they were nothing could stop them. A call
 * of the runtime brings them home, to a P and their thread's usual priority. When they have come to code with preemption
 * points those can as well ({@link ArmPoints}), and must: a loop there may call nothing for hours. Sysmon tries after 10 ms
 * and ever more rarely, down to once in a second or so, and only if they have run meanwhile: a try slows others down a little.
 */
final class Strays {
    private static final long FIRST_NANOS = 10_000_000;
    private static final int MAX_DOUBLINGS = 7;
    /** A thread that had less CPU time than this meanwhile sleeps in the kernel, or gets none. */
    private static final long RAN_NANOS = 100_000;

    private final List<Stray> all = new ArrayList<>();
    private int tries;

    private static final class Stray {
        final Machine m;
        final long gp;
        final long goid;
        /** Whether it ran when last seen, and its thread's CPU time then. */
        boolean ran;
        long cpu;
        /** When to look next, and how often that was put off. */
        long next;
        int doublings;
        /** The number of the try that is under way; 0 for none. */
        int trial;

        Stray(Machine m, Processor.Request r) {
            this.m = m;
            gp = r.gp;
            goid = r.goid;
            ran = r.running;
            cpu = ThreadState.cpuNanos(m);
            next = r.asked + FIRST_NANOS;
        }

        boolean isHome() {
            return M.pOpaque(m.mp) != 0 || M.curgOpaque(m.mp) != gp || G.goid(gp) != goid;
        }

        void putOff(long now) {
            cpu = ThreadState.cpuNanos(m);
            next = now + (FIRST_NANOS << doublings);
            doublings = Math.min(doublings + 1, MAX_DOUBLINGS);
        }
    }

    /** The P of the goroutine of this request, which is on {@code m}, was taken. */
    void add(Machine m, Processor.Request r) {
        if (r.gp != 0) {
            all.removeIf(st -> st.m == m); // It was home and lost the next P since the last look.
            all.add(new Stray(m, r));
        }
    }

    /** Whether any ran when last seen. */
    boolean run() {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).ran) {
                return true;
            }
        }
        return false;
    }

    /** Calls those home whose time it is; true while a try is under way, for which points must be wanted. */
    boolean look(ArmPoints points, long now) {
        boolean trying = false;
        for (Iterator<Stray> i = all.iterator(); i.hasNext();) {
            Stray st = i.next();
            if (st.isHome()) {
                i.remove();
            } else if (now >= st.next) {
                trying |= call(st, points, now);
            }
        }
        return trying;
    }

    private boolean call(Stray st, ArmPoints points, long now) {
        if (st.trial == 0) {
            st.ran = ThreadState.cpuNanos(st.m) - st.cpu >= RAN_NANOS;
            if (!st.ran) {
                st.putOff(now);
                return false;
            }
            st.trial = ++tries;
        }
        if (points.overran(st.m, -st.trial, now)) { // No time slice has a negative name.
            return true;
        }
        st.trial = 0;
        st.putOff(now);
        return false;
    }
}
