// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.jspecify.annotations.Nullable;

/**
 * Goroutines in {@code System.exit}. The call never returns: the first caller waits for the shutdown hooks, and others for the
 * first. So a hook that closes the scheduler must not wait for them. They are known by the frame of {@code Runtime.exit}.
 */
final class Exiters {
    /** The least and the most time between two looks, nanoseconds. */
    private static final long LEAST_PAUSE = 10_000_000;
    private static final long MOST_PAUSE = 1_000_000_000;

    private final GSlots slots;
    private long pause = LEAST_PAUSE;
    private long next = System.nanoTime();

    private Exiters(GSlots slots) {
        this.slots = slots;
    }

    /**
     * Those among the goroutines of {@code slots}, for a close that begins while the JVM shuts down; else null, as a close that began
     * before is not a shutdown hook's.
     */
    static @Nullable Exiters ofShutdown(GSlots slots) {
        try {
            boolean _ = Runtime.getRuntime().removeShutdownHook(new Thread());
            return null;
        } catch (IllegalStateException shutdownInProgress) {
            return new Exiters(slots);
        }
    }

    /** Whether goroutines are left and all are in exit. It reads a stack or so, and is skipped if the last look was just now. */
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
