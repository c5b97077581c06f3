// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.events.WaitProfile;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.P;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * Records rare or long events for JFR. There is no recorder until a recording begins. The loop refers only to this class, because the
 * module {@code jdk.jfr} may be missing.
 *
 * <p>While there is no recorder, a wait has no extra cost, because {@link WaitProfile#isOn} answers for the block profile and for the
 * recorder. Other code that reads {@link #now} executes thousands of instructions anyway.
 *
 * <p>The methods of this class are called on goroutines' stacks inside {@code GStack.enter}, on Ms and on sysmon, where nothing may fail
 * and no goroutine may switch. So a goroutine is pinned while it commits an event, and an event for which there is too little stack or
 * memory is omitted. An event that begins and ends (a wait, a stopped world) is an object of the recorder, null for none.
 */
public abstract class Recorder {
    /** The room on the stack, in bytes, that an event needs in addition to a section of the runtime. */
    private static final long ROOM = 64 << 10;

    private static volatile @Nullable Recorder now;

    /** Why a P was taken. */
    public enum Taken {
        /** Its goroutine was in a call that it had announced. */
        SYSCALL,
        /** Its goroutine's thread slept in the kernel. */
        BLOCKED,
        /** Its goroutine ran past its quantum, and runs on without the P. */
        RAN
    }

    /** Sets the recorder of the process. Called once. */
    public static void set(Recorder r) {
        now = r;
    }

    /** Returns the recorder; null for none. */
    public static @Nullable Recorder now() {
        return now;
    }

    /** Begins the event of a wait. Called when a goroutine is about to wait. */
    protected abstract @Nullable Object waits();

    /** Ends the event of a wait. Called by the goroutine that waited, on its stack. */
    protected abstract void waited(Object event, Scheduler s, long goid, String reason);

    /** Records that a goroutine is about to yield because it was asked to, perhaps for a stop of the world. Called on its stack. */
    protected abstract void preempted(Scheduler s, long goid, boolean forStop);

    /** Begins the event of a stopped world. Called by the thread that begins to stop it. */
    protected abstract @Nullable Object worldStops();

    /** Ends the event of a stopped world. All Ps had stopped after {@code stopping} ns. */
    protected abstract void worldStarts(Object event, Scheduler s, long stopping);

    /** Records that a P was taken from a goroutine; {@code gp} is 0 for {@link Taken#SYSCALL}. Called on sysmon. */
    protected abstract void took(Scheduler s, int p, Taken how, long gp, long goid);

    /** Records that an M begins, or is about to end. Called on its thread. */
    protected abstract void thread(Machine m, boolean begins);

    /** Returns whether there is room on the stack for an event. */
    private static boolean room() {
        return Headroom.left() >= Headroom.toTake() + ROOM;
    }

    public static @Nullable Object waiting() {
        Recorder r = now;
        if (r == null || !room()) {
            return null;
        }
        try {
            return r.waits();
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return null;
        }
    }

    public static void waitOver(@Nullable Object event, Scheduler s, long gp, WaitReason reason) {
        Recorder r = now;
        if (event == null || r == null || !room()) {
            return;
        }
        JdkThreads.pin();
        try {
            r.waited(event, s, G.GOID.get(gp), reason.text());
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return; // The event is omitted, as in the methods below.
        } finally {
            JdkThreads.unpin();
        }
    }

    public static void preempting(Scheduler s, long gp, boolean forStop) {
        Recorder r = now;
        if (r == null || !room()) {
            return;
        }
        JdkThreads.pin();
        try {
            r.preempted(s, G.GOID.get(gp), forStop);
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return;
        } finally {
            JdkThreads.unpin();
        }
    }

    public static @Nullable Object stopping() {
        Recorder r = now;
        if (r == null || !room()) {
            return null;
        }
        try {
            return r.worldStops();
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return null;
        }
    }

    public static void starting(@Nullable Object event, Scheduler s, long stopping) {
        Recorder r = now;
        if (event == null || r == null || !room()) {
            return;
        }
        JdkThreads.pin();
        try {
            r.worldStarts(event, s, stopping);
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return;
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Calls {@link #took(Scheduler, int, Taken, long, long) took} of the recorder, if there is one. Called on sysmon. */
    public static void taken(Scheduler s, long pp, Taken how, long gp, long goid) {
        Recorder r = now;
        if (r != null) {
            try {
                r.took(s, P.ID.get(pp), how, gp, goid);
            } catch (OutOfMemoryError | LinkageError e) {
                return;
            }
        }
    }

    public static void machine(Machine m, boolean begins) {
        Recorder r = now;
        if (r != null) {
            try {
                r.thread(m, begins);
            } catch (OutOfMemoryError | LinkageError e) {
                return;
            }
        }
    }
}
