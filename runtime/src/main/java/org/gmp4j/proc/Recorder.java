// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.events.WaitProfile;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.P;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * Is told of things that happen seldom or last long, and records them as JFR's events. There is none until somebody records. The loop
 * knows only this class, as the module {@code jdk.jfr} may not be there.
 *
 * <p>While there is none, a wait costs nothing more: one flag says whether waits are looked at, be it for the block profile or for a
 * recorder ({@link WaitProfile#isOn}). All other code asks for {@link #now} where it spends thousands of instructions anyway.
 *
 * <p>It is called on goroutines' stacks inside {@link GStack#enter}, on Ms and on sysmon, where nothing may fail and no goroutine may
 * switch: so it is pinned there, has room on the stack, and what it throws for want of memory costs one event. What begins and ends
 * (a wait, a stopped world) is an object of the recorder's own, null for none.
 */
public abstract class Recorder {
    /** The room on the stack, in bytes, that an event takes, beside a section of the runtime. */
    private static final long ROOM = 64 << 10;

    private static volatile @Nullable Recorder now;

    /** What happened to a P. */
    public enum Taken {
        /** Its goroutine was in a call that it had announced. */
        SYSCALL,
        /** Its goroutine's thread slept in the kernel. */
        BLOCKED,
        /** Its goroutine ran past its quantum, and runs on. */
        RAN
    }

    /** Sets the recorder of the process; once. */
    public static void set(Recorder r) {
        now = r;
    }

    /** The recorder; null for none. */
    public static @Nullable Recorder now() {
        return now;
    }

    /** A goroutine is about to wait. */
    protected abstract @Nullable Object waits();

    /** It goes on, on its own stack. */
    protected abstract void waited(Object event, GStack st, String reason);

    /** A goroutine, on its own stack, is about to yield because it was told to; or for a stop of the world. */
    protected abstract void preempted(GStack st, boolean forStop);

    /** The caller begins to stop the world. */
    protected abstract @Nullable Object worldStops();

    /** The world goes on; it took {@code stopping} ns until all Ps had stopped. */
    protected abstract void worldStarts(Object event, Scheduler s, long stopping);

    /** On sysmon: a P was taken from a goroutine, which is 0 for {@link Taken#SYSCALL}. */
    protected abstract void took(Scheduler s, int p, Taken how, long gp, long goid);

    /** On its thread: an M begins, or is about to end. */
    protected abstract void thread(Machine m, boolean begins);

    /** Whether there is room on the stack for an event. */
    private static boolean room() {
        return Headroom.left() >= Headroom.toTake() + ROOM;
    }

    static @Nullable Object waiting() {
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

    static void waitOver(@Nullable Object event, GStack st, WaitReason reason) {
        Recorder r = now;
        if (event == null || r == null || !room()) {
            return;
        }
        JdkThreads.pin();
        try {
            r.waited(event, st, reason.text());
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return; // One event less; likewise below.
        } finally {
            JdkThreads.unpin();
        }
    }

    static void preempting(GStack st, boolean forStop) {
        Recorder r = now;
        if (r == null || !room()) {
            return;
        }
        JdkThreads.pin();
        try {
            r.preempted(st, forStop);
        } catch (OutOfMemoryError | StackOverflowError | LinkageError e) {
            return;
        } finally {
            JdkThreads.unpin();
        }
    }

    static @Nullable Object stopping() {
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

    static void starting(@Nullable Object event, Scheduler s, long stopping) {
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

    /** On sysmon: see {@link #took(Scheduler, int, Taken, long, long)}. */
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

    static void machine(Machine m, boolean begins) {
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
