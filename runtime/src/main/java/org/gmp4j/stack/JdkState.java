// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The states of the virtual threads that we drive, and how they change.
 *
 * <p>While a goroutine is parked by us its virtual thread's {@code state} is {@code WAIT}: a dump sees an
 * unmounted thread in WAITING, {@code LockSupport.unpark} leaves the state alone and only sets the permit (with
 * {@code PARKED} it would submit the thread), and an interrupt moves it to {@code UNBLOCKED} and calls
 * {@code Executor.execute}, which the stack filters. While a goroutine is runnable with frames, the state is
 * {@code YIELDED}. Whoever looks at an unmounted stack holds it by the {@code SUSPENDED} bit (the JDK's
 * {@code tryGetStackTrace}); {@link #toRunning} waits that out, as Go waits out {@code _Gscan}.
 */
public final class JdkState {
    // VirtualThread's states, the same in all versions.
    private static final int NEW = 0;
    private static final int STARTED = 1;
    static final int RUNNING = 2;
    private static final int PARKING = 3;
    private static final int PARKED = 4;
    private static final int PINNED = 5;
    private static final int TIMED_PARKING = 6;
    private static final int TIMED_PARKED = 7;
    private static final int TIMED_PINNED = 8;
    static final int UNPARKED = 9;
    static final int YIELDED = 11;
    private static final int BLOCKING = 12;
    private static final int BLOCKED = 13;
    static final int UNBLOCKED = 14;
    private static final int WAITING = 15;
    static final int WAIT = 16;
    private static final int TIMED_WAITING = 17;
    private static final int TIMED_WAIT = 18;
    private static final int TERMINATED = 99;
    /** Up to JDK 26. Later no thread sets it. */
    static final int SUSPENDED = 1 << 8;

    /** Null where this JVM cannot run goroutines: {@link JdkThreads#check}. */
    private static final ThreadCalls CALLS = JdkThreads.CALLS;

    private JdkState() {
    }

    /** Before {@link JdkThreads#run}: to RUNNING from whatever unmounted state, waiting out a dump that holds the stack. */
    public static void toRunning(Stack st) {
        Thread vt = st.thread;
        for (;;) {
            int s = CALLS.state(vt);
            if ((s & SUSPENDED) == 0 && CALLS.casState(vt, s, RUNNING)) {
                if (s == UNPARKED) {
                    cancelTimeout(vt);
                    CALLS.setParkPermit(vt, false);
                } else if (s == UNBLOCKED) {
                    cancelTimeout(vt);
                    CALLS.setBlockPermit(vt, false);
                }
                return;
            }
            Thread.onSpinWait();
        }
    }

    private static void cancelTimeout(Thread vt) {
        try {
            CALLS.cancelTimeoutTask(vt);
        } catch (OutOfMemoryError e) {
            return; // Then it comes late, and ends a later park for no reason, as any park may.
        }
    }

    /**
     * After {@link JdkThreads#run}, before the goroutine becomes visible as waiting. Release is enough: whoever takes the goroutine
     * comes through a CAS on its status that follows; a dump that still reads RUNNING looks again.
     */
    public static void toWaiting(Stack st) {
        CALLS.setStateRelease(st.thread, WAIT);
    }

    /** After {@link JdkThreads#run}, before the goroutine becomes visible as runnable; release as above. */
    public static void toYielded(Stack st) {
        CALLS.setStateRelease(st.thread, YIELDED);
    }

    /** Whether the JDK has made the thread runnable: what {@code runContinuation} checks before it runs. */
    public static boolean jdkRunnable(Stack st) {
        int s = CALLS.state(st.thread) & ~SUSPENDED;
        return s == STARTED || s == UNPARKED || s == UNBLOCKED || s == YIELDED;
    }

    /**
     * {@code LockSupport.unpark} for the runtime's own threads: it takes no lock. The JDK's takes the interruptLock of a thread
     * that is parked pinned, which an interrupter may hold while it closes a channel. Without it the carrier may get its permit
     * late, when it runs something else: a park that returns for no reason, which every user of {@code park} allows for.
     *
     * @return whether the thread was parked: it is runnable now, and the caller queues it, as the JDK's submission would
     */
    public static boolean unpark(Stack st) {
        Thread vt = st.thread;
        if (CALLS.getAndSetParkPermit(vt, true)) {
            return false;
        }
        int s = CALLS.state(vt);
        if (s == PARKED || s == TIMED_PARKED) {
            return CALLS.casState(vt, s, UNPARKED); // Else a dump holds it, or a time-out was faster: both see the permit.
        }
        if (s == PINNED || s == TIMED_PINNED) {
            LockSupport.unpark(st.host.thread); // Set before the thread was mounted, hence before it was pinned.
        }
        return false;
    }

    /** How a thread waits in the JDK. */
    public enum Wait {
        /** It does not wait, or the JDK has made it runnable. */
        NONE,
        /** {@code LockSupport.park}. */
        PARKED,
        /** {@code LockSupport.parkNanos} or {@code parkUntil}, by which {@code Thread.sleep} waits too. */
        PARKED_FOR_A_TIME,
        /** It is about to enter a monitor. */
        MONITOR,
        /** {@code Object.wait}. */
        OBJECT_WAIT
    }

    /** Returns how the thread waits, or is about to wait, in the JDK. It may wait in another way a moment later. */
    public static Wait wait(Stack st) {
        return switch (CALLS.state(st.thread) & ~SUSPENDED) {
            case PARKING, PARKED, PINNED -> Wait.PARKED;
            case TIMED_PARKING, TIMED_PARKED, TIMED_PINNED -> Wait.PARKED_FOR_A_TIME;
            case BLOCKING, BLOCKED -> Wait.MONITOR;
            case WAITING, WAIT, TIMED_WAITING, TIMED_WAIT -> Wait.OBJECT_WAIT;
            default -> Wait.NONE;
        };
    }

    /** Whether the thread is parked with its carrier just now. */
    public static boolean isPinned(Stack st) {
        int s = CALLS.state(st.thread);
        return s == PINNED || s == TIMED_PINNED;
    }

    /** Whether the thread is runnable because of {@code Thread.yield}. */
    public static boolean jdkYielded(Stack st) {
        return (CALLS.state(st.thread) & ~SUSPENDED) == YIELDED;
    }

    /** Whether the thread never ran. */
    public static boolean isNew(Stack st) {
        return isNew(st.thread);
    }

    /** The same of a virtual thread that may not be ours. */
    public static boolean isNew(Thread vt) {
        int s = CALLS.state(vt);
        return s == NEW || s == STARTED;
    }

    /**
     * The JDK itself asked to yield (a park, a monitor, {@code Thread.yield}): let it finish. May call execute. A wait with a limit of time
     * is finished here, in the JDK's steps, so that its limit is one of our timers.
     *
     * @return false when there was no memory for the alarm of a timed wait, which is set first: then nothing was done, and
     *     it is to be called again
     */
    public static boolean afterYield(Stack st) {
        try {
            int s = CALLS.state(st.thread);
            Timeout t = s == TIMED_PARKING || s == TIMED_WAITING ? st.timeout() : null;
            if (t == null) {
                CALLS.afterYield(st.thread);
            } else if (s == TIMED_PARKING) {
                timedPark(st.thread, t);
            } else {
                timedWait(st.thread, t);
            }
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** The limit may pass, and an unpark may come, before the state says that the thread is parked: both leave the permit. */
    private static void timedPark(Thread vt, Timeout t) {
        t.begin(CALLS.timeout(vt), Timeout.PARK);
        CALLS.setTimeoutTask(vt, t);
        CALLS.setState(vt, TIMED_PARKED);
        if (CALLS.parkPermit(vt) && CALLS.casState(vt, TIMED_PARKED, UNPARKED)) {
            CALLS.submitRunContinuation(vt);
        }
    }

    /**
     * {@code Object.wait}, where no wake-up may be for an earlier wait: each has a number, and a limit that passes is held up by the lock
     * until the state says that the thread waits. A notify or an interrupt that came before that has left its mark.
     */
    private static void timedWait(Thread vt, Timeout t) {
        boolean interruptible = CALLS.interruptibleWait(vt); // The thread is not visible as waiting yet, so it is of this wait.
        boolean blocked;
        synchronized (CALLS.timedWaitLock(vt)) {
            byte wait = (byte) (CALLS.timedWaitSeqNo(vt) + 1);
            CALLS.setTimedWaitSeqNo(vt, wait);
            t.begin(TimeUnit.MILLISECONDS.toNanos(CALLS.timeout(vt)), wait);
            CALLS.setTimeoutTask(vt, t);
            CALLS.setState(vt, TIMED_WAIT);
            blocked = CALLS.notified(vt) && CALLS.casState(vt, TIMED_WAIT, BLOCKED); // Within the lock, not to hit a later wait.
        }
        if (blocked) {
            if (CALLS.blockPermit(vt) && CALLS.casState(vt, BLOCKED, UNBLOCKED)) {
                CALLS.submitRunContinuation(vt);
            }
        } else if (interruptible && CALLS.interrupted(vt) && CALLS.casState(vt, TIMED_WAIT, UNBLOCKED)) {
            CALLS.submitRunContinuation(vt);
        }
    }

    /** The limit of an {@code Object.wait} has passed: ends it, if the thread is still in the wait of that number. May call execute. */
    public static void waitTimedOut(Stack st, int wait) {
        CALLS.waitTimeoutExpired(st.thread, wait);
    }

    /** Returns whether {@link #afterDone} takes the thread's monitor, which a goroutine may hold that has no P. */
    public static boolean endsAtMonitor(Stack st) {
        return CALLS.notifyAllAfterTerminate(st.thread);
    }

    /**
     * The virtual thread ended: has the JDK wake the threads that join it. Only for threads that were started by {@code Thread.start}.
     *
     * @return false when there was no memory to begin with that: it is to be called again
     */
    public static boolean afterDone(Stack st) {
        try {
            CALLS.afterDone(st.thread);
            return true;
        } catch (OutOfMemoryError e) {
            return (CALLS.state(st.thread) & ~SUSPENDED) == TERMINATED; // Once is enough for the rest of it.
        }
    }

    /** For {@link Hold}, as the next two. */
    static int state(Thread vt) {
        return CALLS.state(vt);
    }

    static boolean casState(Thread vt, int from, int to) {
        return CALLS.casState(vt, from, to);
    }

    static void setState(Thread vt, int state) {
        CALLS.setState(vt, state);
    }
}
