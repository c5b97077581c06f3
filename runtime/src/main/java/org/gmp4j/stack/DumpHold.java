// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * Keeps a stack mounted, or unmounted, while a thread dump of the JDK reads its frames.
 *
 * <p>In JDK 25 a virtual thread may be mounted or unmounted while the JDK reads the thread's frames for a dump, unless a JVMTI agent for
 * virtual threads is present. A mount or unmount at that moment crashes the JVM, on the JDK's own scheduler as well. To prevent the crash,
 * {@link JdkContainer} first takes a hold of each stack, and leaves a stack out of the dump if it gets no hold. Later versions of the JDK
 * prevent the crash themselves ({@link JdkVersion#dumpsNeedHolds}). There a hold does not keep the stack where it is, and serves only to
 * give the thread a name until the dump has read it.
 *
 * <p>An unmounted stack is held as the JDK's {@code getStackTrace} holds it: by the SUSPENDED bit of the thread's state.
 * {@link JdkState#toRunning} waits while the bit is set. {@link JdkState#resume} completes wake-ups that came meanwhile.
 *
 * <p>A mounted stack is held by its field {@code hold}, which its host reads before it unmounts ({@link JdkThreads#run}). The host reads it
 * without a fence. Instead, the holding thread sets the field and then takes the stack trace of the host's thread, which stops the host's
 * thread for a moment. If the trace shows {@code leave}, which reads the field and then unmounts, the host's thread may have read the field
 * before it was set. Then the stack is not held. Otherwise the host's thread reads the field after the trace, and sees that it is set. If
 * the stack's carrier is still the host's thread after these steps, the host cannot unmount the stack before it has read the field.
 *
 * <p>If a goroutine yields while it is held, its M waits, with its P, until the dump has read the frames. The dump then shows frames of the
 * M instead of the goroutine's. While the M waits, it reports to the JVM that the switch is over, because the dump waits for the end of a
 * switch.
 */
final class DumpHold {
    /** A value of {@link #state}: the thread is mounted. */
    private static final int MOUNTED = -1;
    /** A value of {@link #state}: the thread is not held. */
    private static final int FREE = -2;

    private final Stack st;
    /** The state that an unmounted thread had, or else {@link #MOUNTED} or {@link #FREE}. */
    private final int state;
    /** The name that replaces the thread's empty name; null for none. */
    private volatile @Nullable String name;
    private final AtomicBoolean over = new AtomicBoolean();

    private DumpHold(Stack st, int state) {
        this.st = st;
        this.state = state;
    }

    /** Tries to hold a stack. Returns null when the stack is being mounted or unmounted, or another thread holds it. */
    static @Nullable DumpHold take(Stack st) {
        if (!JdkThreads.VERSION.dumpsNeedHolds) {
            return new DumpHold(st, FREE);
        }
        int s = JdkState.state(st.thread);
        if (JdkState.isUnmounted(s)) {
            DumpHold h = new DumpHold(st, s); // Made first: with a full heap nothing is held.
            return JdkState.casState(st.thread, s, s | JdkState.SUSPENDED) ? h : null;
        }
        if (!JdkState.isMounted(s)) {
            return null;
        }
        DumpHold h = new DumpHold(st, MOUNTED);
        if (!st.casHold(null, h)) {
            return null;
        }
        boolean stays = false;
        try {
            Host host = st.host;
            stays = host != null && staysOn(st, host.thread);
        } finally {
            if (!stays) {
                h.release();
            }
        }
        return stays ? h : null;
    }

    /**
     * Returns whether the stack is mounted on {@code carrier}, and stays mounted until {@code hold} is cleared. Called after {@code hold}
     * was set.
     */
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

    /** Returns whether the hold has ended, or ends now. Any thread may call this. */
    boolean isOver() {
        return over.get();
    }

    /** Ends the hold. May be called on any thread, any number of times. Waits for no other hold. */
    void release() {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        try {
            String label = name;
            if (label != null) {
                boolean _ = JdkThreads.casName(st.thread, label, ""); // It is false if the goroutine has taken a name, or ended.
            }
        } finally { // A first call may lack memory.
            if (state == MOUNTED) {
                boolean _ = st.casHold(this, null);
            } else if (state != FREE) {
                JdkState.resume(st.thread, state);
            }
        }
    }
}
