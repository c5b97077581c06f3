// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.concurrent.Executor;

/**
 * The JDK's part in the life of a goroutine: mounting its stack, and the states of a virtual thread that parks. The steps are those of
 * {@code java.lang.VirtualThread}, with points between them. A stack is passed as the object that rewritten code has for it.
 */
public final class JdkStacks {
    private JdkStacks() {
    }

    private static StackThread of(Object stack) {
        return (StackThread) Rewriter.threadOf(stack);
    }

    private static void point(StackThread t, boolean writes) {
        if (writes) {
            World.writes(t, Sites.JDK);
        } else {
            World.reads(t, Sites.JDK);
        }
        Digest.reads(t);
    }

    /** Makes a virtual thread. */
    public static Thread make(Executor scheduler, Runnable body) {
        StackThread t = new StackThread(scheduler, body);
        Digest.add(t);
        return t;
    }

    /** Returns the scheduler of a virtual thread. */
    public static Executor scheduler(Thread t) {
        return t instanceof StackThread s ? s.scheduler : null;
    }

    /** Returns the task that continues a virtual thread. */
    public static Runnable continuation(Thread t) {
        return ((StackThread) t).continuation;
    }

    /** Runs a stack on the lane until it yields or ends. */
    public static boolean run(Object stack) {
        StackThread t = of(stack);
        World.run.switchStack(t);
        Digest.reads(t);
        Digest.reads(t.isDone() ? 1 : 0);
        return t.isDone();
    }

    /** Yields from the stack that the lane runs. Returns false if it is pinned. */
    public static boolean leave(Object stack) {
        if (of(stack).pins > 0) {
            return false;
        }
        World.run.switchStack(null);
        return true;
    }

    /** Pins the stack that the lane runs, if it runs one. */
    public static void pin() {
        pins(1);
    }

    /** Ends a {@link #pin}. */
    public static void unpin() {
        pins(-1);
    }

    private static void pins(int d) {
        Lane l = World.lane();
        if (l != null && l.mounted != null) {
            l.mounted.pins += d;
        }
    }

    /** Starts the thread of an M. */
    public static void start(Object thread) {
        World.start((Thread) thread);
    }

    /** Runs a body on a thread with a certain stack. */
    public static void runOn(long bytes, Runnable body) {
        body.run();
    }

    /** Sets the state before the stack is mounted. */
    public static void toRunning(Object stack) {
        StackThread t = of(stack);
        point(t, true);
        if (t.state == StackThread.UNPARKED) {
            t.permit = false;
        }
        t.state = StackThread.RUNNING;
    }

    /** Sets the state of a goroutine that the runtime has parked. */
    public static void toWaiting(Object stack) {
        StackThread t = of(stack);
        point(t, true);
        t.state = StackThread.WAIT;
    }

    /** Sets the state of a goroutine that is runnable. */
    public static void toYielded(Object stack) {
        StackThread t = of(stack);
        point(t, true);
        t.state = StackThread.YIELDED;
    }

    /** Returns whether the JDK has made the thread runnable. */
    public static boolean isRunnable(Object stack) {
        StackThread t = of(stack);
        point(t, false);
        return t.state == StackThread.STARTED || t.state == StackThread.UNPARKED || t.state == StackThread.YIELDED;
    }

    /** Returns whether the thread is runnable because of {@code Thread.yield}. */
    public static boolean hasYielded(Object stack) {
        StackThread t = of(stack);
        point(t, false);
        return t.state == StackThread.YIELDED;
    }

    /** Returns whether the thread has never run. */
    public static boolean isNew(Object stack) {
        StackThread t = of(stack);
        point(t, false);
        return isNew((Thread) t);
    }

    /** Returns whether a virtual thread has never run. */
    public static boolean isNew(Thread t) {
        return t instanceof StackThread s && (s.state == StackThread.NEW || s.state == StackThread.STARTED);
    }

    /** Returns whether the stack's thread has ended. */
    public static boolean ended(Object stack) {
        StackThread t = of(stack);
        Digest.reads(t.isDone() ? 1 : 0);
        return t.isDone();
    }

    /** {@code LockSupport.park}, on a goroutine. */
    public static void park() {
        park(-1);
    }

    /** {@code LockSupport.park} with an object, which only tools see. */
    public static void park(Object blocker) {
        park(-1);
    }

    /** {@code LockSupport.parkNanos}: on a goroutine the JDK's timer would end it, and here it is a yield. */
    public static void parkNanos(long nanos) {
        Lane l = World.lane();
        if (l == null || l.mounted == null) {
            if (World.stops()) {
                int _ = World.await(Memory.name(), 0, nanos);
            }
        } else {
            World.pause();
        }
    }

    private static void park(long nanos) {
        Lane l = World.lane();
        StackThread t = l.mounted;
        if (t == null) {
            throw new IllegalStateException("only goroutines park by LockSupport here");
        }
        point(t, true);
        if (t.permit || t.interrupted) {
            t.permit = false;
            return;
        }
        if (t.pins > 0) { // The thread sleeps with the stack.
            while (!t.permit && !t.interrupted) {
                int _ = World.run.sleep(t.parkWord, nanos);
            }
            t.permit = false;
            return;
        }
        t.state = StackThread.PARKING;
        World.run.switchStack(null);
    }

    /** {@code LockSupport.unpark}. */
    public static void unpark(Thread thread) {
        if (thread instanceof StackThread t) {
            if (unparks(t)) {
                t.scheduler.execute(t.continuation);
            } else if (t.pins > 0) {
                int _ = World.run.wake(t.parkWord, 1);
            }
        }
    }

    private static boolean unparks(StackThread t) {
        point(t, true);
        boolean had = t.permit;
        t.permit = true;
        if (had) {
            return false;
        }
        point(t, false);
        int s = t.state;
        if (s != StackThread.PARKED && s != StackThread.TIMED_PARKED) {
            return false;
        }
        return cas(t, s, StackThread.UNPARKED);
    }

    private static boolean cas(StackThread t, int from, int to) {
        point(t, true);
        if (t.state != from) {
            return false;
        }
        t.state = to;
        return true;
    }

    /** {@code JdkState.unpark}: returns whether the caller has to queue the thread. */
    public static boolean unparks(Object stack) {
        return unparks(of(stack));
    }

    /** {@code VirtualThread.afterYield}: publishes that the thread waits. */
    public static boolean afterYield(Object stack) {
        StackThread t = of(stack);
        Digest.reads(t);
        if (t.state == StackThread.PARKING) {
            point(t, true);
            t.state = StackThread.PARKED;
            point(t, false);
            if (t.permit && cas(t, StackThread.PARKED, StackThread.UNPARKED)) {
                t.scheduler.execute(t.continuation);
            }
        }
        return true;
    }
}
