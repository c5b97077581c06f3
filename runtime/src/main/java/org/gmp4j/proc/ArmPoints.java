package org.gmp4j.proc;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.agent.Points;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.M;

/**
 * How sysmon brings a goroutine that overran its quantum, or runs on without a P ({@link Strays}), to a preemption point of
 * the agent. One for each scheduler, used by its sysmon alone.
 *
 * <p>For each overrun: points are wanted and the threads are nudged through them, {@value #NUDGES} times at most; a
 * millisecond later the outermost loops of what the goroutine runs are armed; then a level deeper each millisecond. When
 * there is nothing left to arm, or no class with points was loaded at all, the P is taken instead, if it has one. The point at
 * which a nudge stopped a goroutine is armed at the next look, for all that come there later ({@link Points#armLearnt}). What
 * is armed and stops nobody for a second is disarmed, and after longer each time that it has to be armed again.
 *
 * <p>Arming is what costs: code is compiled again, and a loop that was vectorised is not any more. So the millisecond is one
 * of the thread's CPU time: one that waits for a CPU had no chance to reach a point.
 */
final class ArmPoints {
    private static final long LEVEL_NANOS = 1_000_000;
    private static final int NUDGES = 3;
    private static final long NUDGE_NANOS = 100_000;
    private static final long DISARM_EVERY = 1_000_000_000;

    /** Schedulers that want points: the agent has one switch for all. */
    private static final AtomicInteger WANTING = new AtomicInteger();

    static {
        Points.setHook(Preempt::point, Preempt::told);
        String problem = Points.problem();
        if (problem != null) {
            Stderr.print(problem + "\n");
        }
    }

    private boolean wanting;
    private long disarmed;

    /** What sysmon knows of the overrun on an M. */
    static final class Overrun {
        private long slice;
        private long since;
        private int nudges;
        private int level;
        /** When the level was reached, in time and in the thread's CPU time. */
        private long reached;
        private long cpu;
        private boolean helpless;
    }

    /**
     * The goroutine on {@code m} should have yielded by now.
     *
     * @param slice names the time slice, or the call of a stray, to tell one overrun from the next
     * @return false when no point can stop it
     */
    boolean overran(Machine m, long slice, long now) {
        Overrun o = m.overrun;
        if (o.since == 0 || o.slice != slice) {
            o.slice = slice;
            o.since = now;
            o.level = -1;
            o.helpless = !Points.any();
            o.nudges = 0;
            if (!o.helpless) {
                want(true);
                o.reached = now;
                o.cpu = ThreadState.cpuNanos(m);
                nudge(o);
            }
            return !o.helpless;
        }
        if (o.helpless) {
            return false;
        }
        if (o.nudges < NUDGES && now - o.since >= o.nudges * NUDGE_NANOS) {
            nudge(o);
        } else if (now - o.reached >= LEVEL_NANOS) {
            long cpu = ThreadState.cpuNanos(m);
            if (cpu - o.cpu >= LEVEL_NANOS) {
                o.level++;
                o.reached = now;
                o.cpu = cpu;
                long gp = M.curgOpaque(m.mp);
                Stack st = gp == 0 ? null : GSlots.stack(gp);
                o.helpless = st == null || !Points.arm(st.thread.getStackTrace(), o.level);
            }
        }
        return !o.helpless;
    }

    /** What follows is about another goroutine, though perhaps in the same time slice. */
    static void forget(Machine m) {
        m.overrun.since = 0;
    }

    private static void nudge(Overrun o) {
        o.nudges++;
        Points.setWanted(true); // Whoever stopped at a point has cleared it, for all.
        Points.nudge();
    }

    /** After each look: whether any goroutine should come to a point. */
    void looked(boolean anyAwaited, long now) {
        want(anyAwaited);
        Points.armLearnt();
        if (now - disarmed >= DISARM_EVERY) {
            disarmed = now;
            int unused = Points.disarm(DISARM_EVERY);
        }
    }

    private void want(boolean on) {
        if (on != wanting) {
            int change = on ? 1 : -1;
            int now = WANTING.addAndGet(change);
            try {
                if (now == Math.max(0, change)) {
                    Points.setWanted(on);
                }
                wanting = on;
            } catch (OutOfMemoryError e) {
                int unused = WANTING.addAndGet(-change);
                throw e; // Again at the next look.
            }
        } else if (on) {
            Points.setWanted(true); // A goroutine that stopped has cleared it, and another is still awaited.
        }
    }
}
