// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.agent.Points;
import org.gmp4j.ffi.VmFlags;
import org.gmp4j.proc.Machine;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.M;

/**
 * How sysmon brings a goroutine that overran its quantum, or runs on without a P ({@link Strays}), to a preemption point of
 * the agent. One for each scheduler, used by its sysmon alone.
 *
 * <p>What is done about an overrun, one step after the other, until the goroutine stops:
 * <ol>
 * <li>The switch is set that makes points check whether they are wanted ({@link Points#want}).
 * <li>The threads are nudged through their points, {@value #NUDGES} times at most.
 * <li>A millisecond later the outermost loops of what the goroutine runs are armed; then a level deeper each millisecond, or at
 * sysmon's next look.
 * <li>When there is nothing left to arm, or no point of the JVM was ever reached, the P is taken, if the goroutine has one, and points
 * are asked for where they are given on demand ({@link Demand}).
 * </ol>
 * The point at which a nudge stopped a goroutine is armed at the next look, for all that come there later ({@link
 * Points#armLearnt}). A point that is armed and stops nobody for a second is disarmed; each time that it has to be armed again it
 * stays armed for longer. Where loops have no safepoint polls, all points are armed for good, from the first overrun on: at each
 * overrun as many as a millisecond allows.
 *
 * <p>The switch is set at each look at a goroutine that should yield, and at no other moment. A goroutine that stops at a point
 * clears it, often within a microsecond; set again at once, it would make the next goroutine pass a thousand points in vain until the
 * next look. It is also cleared when too many calls of the hook have stopped nobody ({@link #PATIENCE}): beside a goroutine in the
 * JDK's code or in native code, which comes to no point, loops whose points are armed would run at a third of their speed.
 * A nudge stops all threads; interpreted code, and armed points, need none.
 *
 * <p>Arming is expensive: code is compiled again, and a loop that was vectorised no longer is. All these times are CPU time of the
 * thread, since a thread that waits for a CPU has no chance to reach a point.
 */
final class ArmPoints {
    private static final long LEVEL_NANOS = 1_000_000;
    private static final int NUDGES = 3;
    /** The CPU time that a goroutine that was told to yield runs on before the first nudge, and then the next. */
    private static final long FIRST_NUDGE_NANOS = 20_000;
    private static final long NUDGE_NANOS = 100_000;
    /** No time slice. */
    private static final long NONE = Long.MIN_VALUE;
    private static final long DISARM_EVERY = 1_000_000_000;

    /** Schedulers that want points: the agent has one switch for all. */
    private static final AtomicInteger WANTING = new AtomicInteger();

    /** How many nanoseconds are spent at each overrun on arming all points, where nudges are late. */
    private static final long ARM_ALL = 1_000_000;

    /**
     * How many calls of the hook may stop nobody: once a goroutine is first told to yield, and then after each later look. The first
     * is about half a millisecond of a loop, time enough for a goroutine that comes to a point each 100 µs. (With 4,000 instead of
     * it that goroutine was nudged ten times as often, and a sleeper beside it late by p90 1.1 instead of 0.1 ms.)
     */
    static final int PATIENCE = 16_000;
    static final int LATER_PATIENCE = 1_000;

    /** Under the class's lock: whether loops have polls, or all points are armed that were linked before that was known. */
    private static boolean settled;
    /** Whether all points are armed: a nudge, which stops the VM, is no use then, as every thread sees the points anyway. */
    private static volatile boolean allArmed;

    private boolean wanting;
    private long disarmed;

    /** What sysmon knows of the overrun on an M. */
    static final class Overrun {
        private long slice = NONE;
        private int nudges = 1;
        /** Whether the last one took no nudge. */
        private boolean prompt;
        private int level;
        /** The thread's CPU time when the level was reached, and the CPU time at which it is nudged again. */
        private long cpu;
        private long nextNudge;
        private boolean helpless;

        boolean prompt() {
            return prompt && nudges == 0;
        }

        /** What follows is about another goroutine, though perhaps in the same time slice. */
        void forget() {
            slice = NONE;
        }
    }

    /**
     * The goroutine on {@code m} should have yielded by now.
     *
     * @param slice names the time slice, or the call of a stray, to tell one overrun from the next
     * @return false when no point can stop it
     */
    boolean overran(Machine m, long slice) {
        Overrun o = WatchedM.of(m).overrun;
        try {
            return reaches(o, m, slice);
        } catch (LinkageError e) { // There was no memory when a class of the JDK was initialised: it can never be used.
            o.helpless = true;
            return false;
        }
    }

    private boolean reaches(Overrun o, Machine m, long slice) {
        if (o.slice != slice) {
            o.slice = slice;
            o.level = -1;
            o.helpless = !Points.any();
            o.prompt = o.nudges == 0;
            o.nudges = 0;
            if (!o.helpless) {
                VmThread.hurry(Sysmon.SLICE);
                armWhereNudgesAreLate();
                want(PATIENCE);
                o.cpu = ThreadState.cpuNanos(m);
                o.nextNudge = o.cpu + FIRST_NUDGE_NANOS;
            } else {
                askForPoints(m);
            }
            return !o.helpless;
        }
        if (o.helpless) {
            return false;
        }
        want(LATER_PATIENCE);
        long cpu = ThreadState.cpuNanos(m);
        if (cpu == 0 && o.cpu == 0) { // CPU time cannot be read here, so it is not known whether it could have come to a point.
            o.helpless = true;
            return false;
        }
        if (o.nudges < NUDGES && cpu >= o.nextNudge && !allArmed) {
            o.nudges++;
            o.nextNudge = cpu + NUDGE_NANOS;
            Points.nudge();
        } else if (cpu - o.cpu >= LEVEL_NANOS) {
            o.level++;
            o.cpu = cpu;
            long gp = M.CURG.getOpaque(m.mp);
            Stack st = gp == 0 ? null : GSlots.stack(gp);
            o.helpless = st == null || !Points.arm(st.thread.getStackTrace(), o.level);
            if (o.helpless) {
                askForPoints(m);
            }
        }
        return !o.helpless;
    }

    private static void askForPoints(Machine m) {
        long gp = M.CURG.getOpaque(m.mp);
        Stack st = gp == 0 ? null : GSlots.stack(gp);
        if (st != null) {
            Demand.ask(st.thread, (int) M.PROCID.get(m.mp));
        }
    }

    /**
     * A nudge comes at a safepoint poll. C2 leaves them out of counted loops with the serial and the parallel collector, unless told
     * otherwise; the JVM chooses the serial one where it sees one CPU. Sysmon then waited in the nudge until the loop had ended, and
     * the point that was learnt was the one behind it: in four servers of five, every request of 5 ms ran to its end.
     */
    private static synchronized void armWhereNudgesAreLate() {
        if (!settled) {
            boolean poll = VmFlags.countedLoopsPoll();
            settled = poll || Points.armAll(ARM_ALL); // Or the next overrun goes on with it.
            allArmed = settled && !poll;
        }
    }

    /** Loads what the first overrun needs: if the heap were full then, some of those classes could never be used. */
    static void rehearse() {
        boolean _ = VmThread.setSlice(0);
        var _ = VmFlags.countedLoopsPoll();
        try {
            StackTraceElement[] stack = Thread.currentThread().getStackTrace();
            Points.rehearse();
        } catch (LinkageError e) {
            return; // It is too late: overran goes without.
        }
    }

    /** The goroutine had yielded already when the switch was set for it. For others the switch is set again at the next look. */
    static void gone() {
        Points.setWanted(false);
    }

    /** After each look: whether any goroutine should come to a point. */
    void looked(boolean anyAwaited, long now) {
        if (!anyAwaited) {
            wantNone();
        }
        Points.armLearnt();
        if (now - disarmed >= DISARM_EVERY) {
            disarmed = now;
            int _ = Points.disarm(DISARM_EVERY);
        }
    }

    /** Sysmon ends: no goroutine is waited for any more. */
    void close() {
        wantNone();
    }

    private void want(int patience) {
        if (!wanting) {
            wanting = true;
            int _ = WANTING.incrementAndGet();
        }
        Points.want(patience); // Each time: one that stopped may have cleared it, though another, or another scheduler, wants it as well.
    }

    private void wantNone() {
        if (wanting) {
            if (WANTING.get() == 1) { // Where two see each other's, points want nobody when these have lost their patience.
                Points.setWanted(false); // Before the rest, as there may be no memory for it.
            }
            wanting = false;
            int _ = WANTING.decrementAndGet();
        }
    }
}
