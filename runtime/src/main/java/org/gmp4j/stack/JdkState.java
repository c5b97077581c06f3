// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Reads and changes the states of the virtual threads that the runtime mounts.
 *
 * <p>While the runtime has parked a goroutine its virtual thread's {@code state} is {@code WAIT}. A dump then sees an unmounted thread in
 * WAITING. {@code LockSupport.unpark} only sets the permit and does not change the state. (With {@code PARKED} it would submit the thread.)
 * An interrupt changes the state to {@code UNBLOCKED} and calls {@link Stack#execute}, which readies the goroutine only if it waits in the
 * JDK. While a goroutine is runnable and has frames, the state is {@code YIELDED}. A thread that reads the frames of an unmounted stack
 * holds it by the {@code SUSPENDED} bit (the JDK's {@code tryGetStackTrace}). {@link #toRunning} waits while the bit is set, as Go waits
 * for the bit {@code _Gscan}.
 */
public final class JdkState {
    // VirtualThread's states, which are the same in all versions.
    private static final int NEW = 0;
    private static final int STARTED = 1;
    private static final int RUNNING = 2;
    private static final int PARKING = 3;
    private static final int PARKED = 4;
    private static final int PINNED = 5;
    private static final int TIMED_PARKING = 6;
    private static final int TIMED_PARKED = 7;
    private static final int TIMED_PINNED = 8;
    private static final int UNPARKED = 9;
    private static final int YIELDED = 11;
    private static final int BLOCKING = 12;
    private static final int BLOCKED = 13;
    private static final int UNBLOCKED = 14;
    private static final int WAITING = 15;
    private static final int WAIT = 16;
    private static final int TIMED_WAITING = 17;
    private static final int TIMED_WAIT = 18;
    private static final int TERMINATED = 99;
    /** A bit that the JDK, up to version 26, adds to a state. */
    static final int SUSPENDED = 1 << 8;

    /** Null where this JVM cannot run goroutines. Then {@link JdkThreads#check} throws. */
    private static final ThreadCalls CALLS = JdkThreads.CALLS;

    private JdkState() {
    }

    /** Changes the state from any unmounted state to RUNNING, before {@link JdkThreads#run}. Waits while a dump holds the stack. */
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
            return; // The timeout still fires. A later park may end too early, and callers of park must expect such returns.
        }
    }

    /**
     * Sets the state to WAIT, after {@link JdkThreads#run} and before the goroutine becomes visible as waiting. Release order is enough:
     * the goroutine's status is written later, and a thread that takes the goroutine changes the status by a CAS before it reads the state.
     * A dump that still reads RUNNING reads the state again.
     */
    public static void toWaiting(Stack st) {
        CALLS.setStateRelease(st.thread, WAIT);
    }

    /**
     * Sets the state to YIELDED, after {@link JdkThreads#run} and before the goroutine becomes visible as runnable. Release order is
     * enough, as in {@link #toWaiting}.
     */
    public static void toYielded(Stack st) {
        CALLS.setStateRelease(st.thread, YIELDED);
    }

    /** Returns whether the JDK has made the thread runnable. The JDK's {@code runContinuation} makes the same check before it runs. */
    public static boolean jdkRunnable(Stack st) {
        int s = CALLS.state(st.thread) & ~SUSPENDED;
        return s == STARTED || s == UNPARKED || s == UNBLOCKED || s == YIELDED;
    }

    /**
     * Unparks the thread as {@code LockSupport.unpark} does, but without a lock, for the runtime's own threads. The JDK's method takes the
     * interruptLock of a thread that is parked pinned, and an interrupter may hold that lock while it closes a channel. Without the lock
     * the carrier may get its permit late, when it runs another goroutine. Then a park of that goroutine returns too early, and callers of
     * {@code park} must expect such returns.
     *
     * @return true if the thread was parked: it is runnable now, and the caller has to queue it
     */
    public static boolean unpark(Stack st) {
        Thread vt = st.thread;
        if (CALLS.getAndSetParkPermit(vt, true)) {
            return false;
        }
        int s = CALLS.state(vt);
        if (s == PARKED || s == TIMED_PARKED) {
            return CALLS.casState(vt, s, UNPARKED); // Fails if a dump holds the thread, or a time-out has changed the state. The dump and
                                                    // the time-out see the permit.
        }
        if (s == PINNED || s == TIMED_PINNED) {
            LockSupport.unpark(st.host.thread); // The host was set before the thread was mounted, so before it was pinned.
        }
        return false;
    }

    /** The ways in which a thread waits in the JDK. */
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

    /** Returns how the thread waits, or is about to wait, in the JDK. The result may be out of date at once. */
    public static Wait wait(Stack st) {
        return switch (CALLS.state(st.thread) & ~SUSPENDED) {
            case PARKING, PARKED, PINNED -> Wait.PARKED;
            case TIMED_PARKING, TIMED_PARKED, TIMED_PINNED -> Wait.PARKED_FOR_A_TIME;
            case BLOCKING, BLOCKED -> Wait.MONITOR;
            case WAITING, WAIT, TIMED_WAITING, TIMED_WAIT -> Wait.OBJECT_WAIT;
            default -> Wait.NONE;
        };
    }

    /** Returns whether the thread is parked and still mounted, so that its carrier waits as well. */
    public static boolean isPinned(Stack st) {
        int s = CALLS.state(st.thread);
        return s == PINNED || s == TIMED_PINNED;
    }

    /** Returns whether the thread is runnable because of {@code Thread.yield}. */
    public static boolean jdkYielded(Stack st) {
        return (CALLS.state(st.thread) & ~SUSPENDED) == YIELDED;
    }

    /** Returns whether the thread has never run. */
    public static boolean isNew(Stack st) {
        return isNew(st.thread);
    }

    /** Returns whether a virtual thread, which may be another scheduler's, has never run. */
    public static boolean isNew(Thread vt) {
        int s = CALLS.state(vt);
        return s == NEW || s == STARTED;
    }

    /**
     * Finishes a yield that the JDK itself began: in a park, for a monitor, in {@code Object.wait} or in {@code Thread.yield}. May call
     * {@link Stack#execute}. For a wait with a time limit this method does the JDK's steps itself, so that a timer of the runtime ends the
     * wait.
     *
     * @return false when there was no memory for the timer of a timed wait. The timer is set first, so nothing has changed then, and the
     *     caller has to call again
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

    /**
     * Finishes a park with a time limit. The limit may pass, or an unpark may come, before the state is TIMED_PARKED. Both set the permit,
     * which this method reads after it has written the state.
     */
    private static void timedPark(Thread vt, Timeout t) {
        t.begin(CALLS.timeout(vt), Timeout.PARK);
        CALLS.setTimeoutTask(vt, t);
        CALLS.setState(vt, TIMED_PARKED);
        if (CALLS.parkPermit(vt) && CALLS.casState(vt, TIMED_PARKED, UNPARKED)) {
            CALLS.submitRunContinuation(vt);
        }
    }

    /**
     * Finishes an {@code Object.wait} with a time limit. Each wait has a number, so that the timer of an earlier wait does not end this
     * one. If the limit passes before the state is TIMED_WAIT, the timer waits for the lock. An earlier notify or interrupt has set
     * {@code notified} or {@code interrupted}, which this method reads after it has written the state.
     */
    private static void timedWait(Thread vt, Timeout t) {
        boolean interruptible = CALLS.interruptibleWait(vt); // The thread is not visible as waiting yet, so the value belongs to this wait.
        boolean blocked;
        synchronized (CALLS.timedWaitLock(vt)) {
            byte wait = (byte) (CALLS.timedWaitSeqNo(vt) + 1);
            CALLS.setTimedWaitSeqNo(vt, wait);
            t.begin(TimeUnit.MILLISECONDS.toNanos(CALLS.timeout(vt)), wait);
            CALLS.setTimeoutTask(vt, t);
            CALLS.setState(vt, TIMED_WAIT);
            blocked = CALLS.notified(vt) && CALLS.casState(vt, TIMED_WAIT, BLOCKED); // Without the lock this CAS could end a later wait.
        }
        if (blocked) {
            if (CALLS.blockPermit(vt) && CALLS.casState(vt, BLOCKED, UNBLOCKED)) {
                CALLS.submitRunContinuation(vt);
            }
        } else if (interruptible && CALLS.interrupted(vt) && CALLS.casState(vt, TIMED_WAIT, UNBLOCKED)) {
            CALLS.submitRunContinuation(vt);
        }
    }

    /**
     * Ends the {@code Object.wait} with this number after its time limit, if the thread is still in it. Waits while a dump holds the
     * thread, because the end of a hold does not repeat this call. The JDK's own method loads a class when the state is UNBLOCKED already.
     * With a full heap that fails, and then no thread would ready the goroutine.
     *
     * @return true if this call has ended the wait: the thread is runnable now, and the caller has to queue it
     */
    public static boolean endWait(Stack st, int wait) {
        Thread vt = st.thread;
        synchronized (CALLS.timedWaitLock(vt)) {
            while (CALLS.timedWaitSeqNo(vt) == wait) {
                int s = CALLS.state(vt);
                if (s == TIMED_WAIT && CALLS.casState(vt, TIMED_WAIT, UNBLOCKED)) {
                    return true;
                }
                if ((s & ~SUSPENDED) != TIMED_WAIT) {
                    return false; // A notify or an interrupt has ended the wait.
                }
                Thread.yield();
            }
        }
        return false;
    }

    /** Returns whether {@link #afterDone} takes the thread's monitor. A goroutine without a P may hold this monitor. */
    public static boolean endsAtMonitor(Stack st) {
        return CALLS.notifyAllAfterTerminate(st.thread);
    }

    /**
     * Makes the JDK wake the threads that join a virtual thread that has ended. It is only for threads that {@code Thread.start} has
     * started.
     *
     * @return false when there was no memory to begin; then the caller has to call again
     */
    public static boolean afterDone(Stack st) {
        try {
            CALLS.afterDone(st.thread);
            return true;
        } catch (OutOfMemoryError e) {
            return (CALLS.state(st.thread) & ~SUSPENDED) == TERMINATED; // The steps after this state are not repeated.
        }
    }

    /** Returns a virtual thread's state, for {@link DumpHold}. */
    static int state(Thread vt) {
        return CALLS.state(vt);
    }

    /** Returns whether a thread in this state is unmounted, and not suspended. */
    static boolean isUnmounted(int state) {
        return switch (state) {
            case PARKED, TIMED_PARKED, UNPARKED, YIELDED, BLOCKED, UNBLOCKED, WAIT, TIMED_WAIT -> true;
            default -> false;
        };
    }

    /** Returns whether a thread in this state is mounted, and neither is being mounted nor unmounted. */
    static boolean isMounted(int state) {
        return state == RUNNING || state == PINNED || state == TIMED_PINNED;
    }

    static boolean casState(Thread vt, int from, int to) {
        return CALLS.casState(vt, from, to);
    }

    /**
     * Ends the suspension of an unmounted thread, and completes a wake-up that came meanwhile. May call {@link Stack#execute}. The waker
     * writes the permit, {@code notified} or {@code interrupted}, and then reads the state. If the state has the bit SUSPENDED, the waker
     * does no more. This method writes the state and then reads what the waker wrote, so that one of the two makes the thread runnable. A
     * thread that was runnable needs nothing more: {@link #toRunning} waits for the end of the suspension.
     *
     * @param state the state before the suspension
     */
    static void resume(Thread vt, int state) {
        CALLS.setState(vt, state); // No other thread changes the state while the thread is suspended.
        boolean woken = switch (state) {
            case PARKED, TIMED_PARKED -> CALLS.parkPermit(vt) && CALLS.casState(vt, state, UNPARKED);
            case BLOCKED -> CALLS.blockPermit(vt) && CALLS.casState(vt, state, UNBLOCKED);
            case WAIT, TIMED_WAIT -> (CALLS.notified(vt) || CALLS.interrupted(vt)) && CALLS.casState(vt, state, UNBLOCKED);
            default -> false;
        };
        if (woken) {
            CALLS.submitRunContinuation(vt);
        }
    }
}
