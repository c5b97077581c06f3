// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

/**
 * Keeps a stack where it is, mounted or not, while a thread dump of the JDK looks at it.
 *
 * <p>JDK 25 reads a virtual thread's frames for a dump without keeping the thread from being mounted or unmounted meanwhile,
 * unless a JVMTI agent is there that knows virtual threads. A thread that moves at that moment crashes the JVM, on the JDK's own
 * scheduler as well. So {@link JdkContainer} lends the dump no stack that it does not hold.
 *
 * <p>An unmounted stack is held as the JDK's {@code getStackTrace} does it: by the SUSPENDED bit of the thread's state, which
 * {@link JdkState#toRunning} waits out. Wake-ups that failed meanwhile are completed afterwards: see {@link #release}.
 *
 * <p>A mounted one is held by its field {@code hold}, at which its host looks before it unmounts ({@link JdkThreads#run}). The
 * host does so without a fence, and this side makes up for it: after it has set the field it takes the stack trace of the host's
 * thread, which stops that thread for a moment. If the thread was inside {@code leave}, which looks and then unmounts, it may
 * have looked before: that is no hold. Otherwise its next look comes later and sees the field. If after all that the carrier is
 * still the carrier, then nothing but this next look can part the two. A goroutine that yields while held leaves its M waiting,
 * with its P, for some microseconds, and the dump then shows frames of the M instead of its own. The M tells the JVM meanwhile
 * that the switch is over, or the dump would wait for that.
 */
final class Hold {
    // VirtualThread's states, JDK 25, beside those of JdkThreads.
    private static final int PARKED = 4;
    private static final int PINNED = 5;
    private static final int TIMED_PARKED = 7;
    private static final int TIMED_PINNED = 8;
    private static final int BLOCKED = 13;
    private static final int TIMED_WAIT = 18;

    private static final VarHandle OVER;

    static {
        try {
            OVER = MethodHandles.lookup().findVarHandle(Hold.class, "over", boolean.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** When it began, by nanoTime. */
    final long since = System.nanoTime();
    private final Stack st;
    /** The state that an unmounted thread had; -1 for a mounted one. */
    private final int state;
    /** What was put in the place of the thread's empty name, or null. */
    private volatile @Nullable String name;
    private volatile boolean over;

    private Hold(Stack st, int state) {
        this.st = st;
        this.state = state;
    }

    /** Tries to hold a stack. Null when it is just moving, or somebody else holds it. */
    static @Nullable Hold take(Stack st) {
        int s = JdkState.state(st.thread);
        if (isUnmounted(s)) {
            boolean held = JdkState.casState(st.thread, s, s | JdkState.SUSPENDED);
            return held ? new Hold(st, s) : null;
        }
        if (s != JdkState.RUNNING && s != PINNED && s != TIMED_PINNED) {
            return null;
        }
        Hold h = new Hold(st, -1);
        if (!st.casHold(null, h)) {
            return null;
        }
        Host host = st.host;
        if (host == null || !staysOn(st, host.thread)) {
            h.release();
            return null;
        }
        return h;
    }

    /** Whether a thread in this state is off its carrier, and nobody holds it there. */
    private static boolean isUnmounted(int state) {
        return switch (state) {
            case PARKED, TIMED_PARKED, JdkState.UNPARKED, JdkState.YIELDED, BLOCKED, JdkState.UNBLOCKED, JdkState.WAIT,
                    TIMED_WAIT -> true;
            default -> false;
        };
    }

    /** After {@code hold} was set: whether the thread is mounted there, and is until that is cleared. */
    private static boolean staysOn(Stack st, Thread carrier) {
        for (StackTraceElement e : carrier.getStackTrace()) {
            String method = e.getMethodName();
            if (method.equals("leave") && e.getClassName().equals(JdkThreads.class.getName())
                    || method.equals("mount") && e.getClassName().equals("java.lang.VirtualThread")) {
                return false;
            }
        }
        return JdkThreads.carrier(st.thread) == carrier;
    }

    /** Names the thread while it is held, unless it has a name. */
    void name(String label) {
        if (JdkThreads.casName(st.thread, "", label)) {
            name = label;
        }
    }

    /**
     * Ends the hold. From any thread, any number of times.
     *
     * <p>A thread that tried to wake one that the JDK had parked found it suspended and left only a permit. The JDK's own
     * {@code getStackTrace} checks for that when it is done, so one such call completes the wake-up.
     */
    void release() {
        if (!OVER.compareAndSet(this, false, true)) {
            return;
        }
        String label = name;
        if (label != null) {
            boolean _ = JdkThreads.casName(st.thread, label, ""); // False: the goroutine has taken a name, or ended.
        }
        if (state < 0) {
            boolean _ = st.casHold(this, null);
        } else {
            JdkState.setState(st.thread, state); // No other thread changes it while it is suspended.
            StackTraceElement[] _ = st.thread.getStackTrace();
        }
    }
}
