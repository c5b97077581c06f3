// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.life;

import org.gmp4j.stack.JdkShutdown;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.jspecify.annotations.Nullable;

/**
 * Goroutines in {@code System.exit}. The call never returns: the first caller waits for the shutdown hooks, and the others wait for the
 * first. So a hook that closes the scheduler must not wait for these goroutines. They are recognised by the frame of {@code Runtime.exit}.
 */
final class Exiters {
    /** The least and the greatest time between two checks, ns. */
    private static final long LEAST_PAUSE = 10_000_000;
    private static final long MOST_PAUSE = 1_000_000_000;

    private final GSlots slots;
    private long pause = LEAST_PAUSE;
    private long next = System.nanoTime();

    private Exiters(GSlots slots) {
        this.slots = slots;
    }

    /**
     * Returns the exiters among the goroutines of {@code slots}, for a close that begins while the JVM shuts down. Otherwise returns null,
     * because no shutdown hook makes the close.
     */
    static @Nullable Exiters ofShutdown(GSlots slots) {
        return JdkShutdown.hasBegun() ? new Exiters(slots) : null;
    }

    /**
     * Returns whether all living goroutines are in exit. Reads stacks until it finds a goroutine that is not in exit. Returns false without
     * a check if the last check was very recent.
     */
    boolean onlyTheyAreLeft() {
        long now = System.nanoTime();
        if (now < next) {
            return false;
        }
        next = now + pause;
        pause = Math.min(2 * pause, MOST_PAUSE);
        return slots.all(gp -> {
            int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
            return status == GStatus.GDEAD || status == GStatus.GIDLE || isInExit(gp);
        });
    }

    private static boolean isInExit(long gp) {
        Stack st = GSlots.stack(gp);
        if (st != null) {
            for (StackTraceElement e : st.thread.getStackTrace()) {
                if (e.getClassName().equals("java.lang.Runtime") && e.getMethodName().equals("exit")) {
                    return true;
                }
            }
        }
        return false;
    }
}
