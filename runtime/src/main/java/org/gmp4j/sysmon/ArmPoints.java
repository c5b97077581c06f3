// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.agent.Points;
import org.gmp4j.ffi.VmFlags;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.M;

/**
 * Brings a goroutine that overran its quantum, or runs on without a P ({@link Strays}), to a preemption point of the agent. Each
 * scheduler has one object of this class, and only its sysmon uses it.
 *
 * <p>A point is code that the agent has added to a method. While a switch is set, a point calls a hook, in which a goroutine stops if it
 * has to. In code compiled by C2 a point has no instructions until it is armed: the JVM then compiles the code again, with the call. A
 * nudge makes threads in compiled code continue in the interpreter to their next point.
 *
 * <p>Sysmon takes these steps, one after the other, until the goroutine stops:
 * <ol>
 * <li>It sets the switch that makes preemption points check whether a goroutine has to stop ({@link Points#want}).
 * <li>It nudges the threads to their points, {@value #NUDGES} times at most. A nudge stops all threads. Interpreted code and armed points
 * need no nudge, because they check the switch.
 * <li>A millisecond later it arms the points of the outermost loops that the goroutine runs. Then it arms one more level of loops at the
 * first scan after each further millisecond.
 * <li>If there is no point left to arm, or no point of the JVM was ever reached, {@link Retake} takes the P, if the goroutine has one.
 * If the agent adds points only to classes that need them, sysmon also requests points for the goroutine's method ({@link Demand}).
 * </ol>
 *
 * <p>The point at which a nudge stopped a goroutine is armed at the next scan, for all goroutines that reach it later
 * ({@link Points#armLearnt}). An armed point that stops no goroutine for a second is disarmed. Each time that it has to be armed again it
 * stays armed for longer. Where loops have no safepoint polls, each overrun arms as many points as it can in a millisecond, until all
 * points are armed. These points stay armed.
 *
 * <p>Only a scan of a goroutine that should yield sets the switch. A goroutine that stops at a point clears it, often within a microsecond.
 * If the switch were set again at once, the next goroutine would pass its points slowly until the next scan, although it need not yield.
 * The switch is also cleared when too many calls of the hook have stopped no goroutine ({@link #PATIENCE}). While the switch is set,
 * all loops whose points are armed run at a fraction of their speed, perhaps in vain, because a goroutine in the JDK's code or in native
 * code comes to no point.
 *
 * <p>Arming is expensive, because code is compiled again, and a vectorised loop loses its vector code. The steps count CPU time of
 * the goroutine's thread, because a thread that waits for a CPU cannot reach a point.
 */
final class ArmPoints {
    private static final long LEVEL_NANOS = 1_000_000;
    private static final int NUDGES = 3;
    /** The CPU time, in ns, from a preemption request to the first nudge, and from one nudge to the next. */
    private static final long FIRST_NUDGE_NANOS = 20_000;
    private static final long NUDGE_NANOS = 100_000;
    /** A number that no time slice has. */
    private static final long NONE = Long.MIN_VALUE;
    private static final long DISARM_EVERY = 1_000_000_000;

    /** The number of schedulers that want points. The agent has one switch for all. */
    private static final AtomicInteger WANTING = new AtomicInteger();

    /** The time, ns, that each overrun spends on arming all points where loops have no safepoint polls. */
    private static final long ARM_ALL = 1_000_000;

    /**
     * When the first request to a goroutine has set the switch, the switch is cleared after this number of calls of the hook that stopped
     * no goroutine. A loop makes this number of calls in about half a millisecond, which is enough for a goroutine that reaches a point
     * every 100 µs. With a smaller number such a goroutine would need nudges, which stop all threads.
     */
    static final int PATIENCE = 16_000;
    /** The number that replaces {@link #PATIENCE} when a later scan of that goroutine sets the switch. */
    static final int LATER_PATIENCE = 1_000;

    /**
     * Whether {@link #armWhereNudgesAreLate} has nothing left to do: loops have safepoint polls, or all points are armed. The lock of the
     * class guards it.
     */
    private static boolean settled;
    /** Whether {@link #rehearse} was called. */
    private static boolean rehearsed;
    /** Whether all points are armed, so that every thread calls the hook and a nudge is useless. */
    private static volatile boolean allArmed;

    /** Whether this scheduler counts in {@link #WANTING}. */
    private boolean wanting;
    /** The nanoTime at which points were last disarmed. */
    private long disarmed;

    /** Sysmon's record of the overrun on an M. */
    static final class Overrun {
        private long slice = NONE;
        private int nudges = 1;
        /** Whether the last overrun ended without a nudge. */
        private boolean prompt;
        /** The depth of nested loops down to which points are armed; -1 before any is armed. */
        private int level;
        /** The thread's CPU time, ns, when the level was reached. */
        private long cpu;
        /** The thread's CPU time, ns, at which the next nudge is due. */
        private long nextNudge;
        /** Whether no point can stop the goroutine. */
        private boolean helpless;

        /** Returns whether neither this overrun nor the last one needed a nudge. */
        boolean prompt() {
            return prompt && nudges == 0;
        }

        /** Ends the record of this overrun. The next overrun is another goroutine's, perhaps in the same time slice. */
        void forget() {
            slice = NONE;
        }
    }

    /**
     * Takes the next step towards stopping the goroutine on {@code m}, which should have yielded by now.
     *
     * @param slice the number of the time slice, or of the attempt to bring a stray to a point. A new number begins a new overrun
     * @return false when no point can stop the goroutine
     */
    boolean overran(Machine m, long slice) {
        Overrun o = WatchedM.of(m).overrun;
        try {
            return reaches(o, m, slice);
        } catch (LinkageError e) { // A class of the JDK was initialised without memory, and can never be used.
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
        if (cpu == 0 && o.cpu == 0) { // CPU time cannot be read, so it is unknown whether the thread could reach a point.
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
     * Arms all points if counted loops have no safepoint polls. A nudge takes effect at a safepoint poll. With the serial and the parallel
     * collector C2 omits the polls in counted loops, unless a flag says otherwise. The JVM chooses the serial collector if it sees one CPU.
     * In a loop without a poll a nudge would keep sysmon until the loop has ended, and arm the point behind the loop.
     */
    private static synchronized void armWhereNudgesAreLate() {
        if (!settled) {
            boolean poll = VmFlags.countedLoopsPoll();
            settled = poll || Points.armAll(ARM_ALL); // If the time was too short, the next overrun continues.
            allArmed = settled && !poll;
        }
    }

    /**
     * Loads the classes that the first overrun needs, because with a full heap they would become unusable. Does it once in the process: a
     * later call would take the VM thread's short slices away.
     */
    static synchronized void rehearse() {
        if (rehearsed) {
            return;
        }
        boolean _ = VmThread.setSlice(0);
        var _ = VmFlags.countedLoopsPoll();
        try {
            StackTraceElement[] _ = Thread.currentThread().getStackTrace();
        } catch (LinkageError e) {
            Thread.onSpinWait(); // One of the classes is unusable, and overran reports that no point helps.
        }
        rehearsed = true;
    }

    /** Clears the switch, because the goroutine yielded before sysmon set the switch. The next scan sets it again for other goroutines. */
    static void gone() {
        Points.setWanted(false);
    }

    /**
     * Does the work that follows a scan: arms the points that were learnt, and disarms those that stop no goroutine.
     *
     * @param anyAwaited whether a goroutine is to come to a point; otherwise this scheduler no longer wants points
     */
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

    /** Ends this scheduler's requests for points, because sysmon ends. */
    void close() {
        wantNone();
    }

    private void want(int patience) {
        if (!wanting) {
            wanting = true;
            int _ = WANTING.incrementAndGet();
        }
        // The switch is set each time, because a goroutine that stopped may have cleared it while another goroutine, or another scheduler,
        // still needs it.
        Points.want(patience);
    }

    private void wantNone() {
        if (wanting) {
            // If two schedulers do this at once, both may see 2. Then the switch stays set until enough calls have stopped no goroutine.
            if (WANTING.get() == 1) {
                Points.setWanted(false); // Comes before the fields change, because it may throw for lack of memory.
            }
            wanting = false;
            int _ = WANTING.decrementAndGet();
        }
    }
}
