// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkThreads;

/**
 * A debug tool that checks the invariants of {@code ARCHITECTURE.md} on the live structs of a scheduler, in two ways. {@link #check} needs
 * a stopped world. {@link #sample} takes {@code sched.lock}, so that the state that the lock guards does not change, and reads all other
 * state while it changes.
 *
 * <p>Some invariants hold at every moment (those of the state under the lock, and the bound of a ring), so one pass decides. Other
 * invariants are broken for a moment by design, between two stores of one thread. For example a P is idle before it is in the idle list,
 * and a G that a thread without a P has just readied is on no queue yet. Such a violation counts only if every pass finds it.
 *
 * <p>This class enforces no invariant. Each thread keeps the invariants by the order of its stores.
 */
public final class Invariants {
    private static final int LOOKS = 100;
    private static final int LONGEST_PAUSE_MILLIS = 50;

    private Invariants() {
    }

    /** Checks the invariants of a stopped world. Called with the world stopped. Returns the violations. */
    public static List<String> check(Scheduler s) {
        return look(s, true, LOOKS);
    }

    /** Checks the invariants that can be checked while the scheduler runs. Called from any thread. Returns the violations. */
    public static List<String> sample(Scheduler s) {
        return look(s, false, LOOKS);
    }

    /**
     * Makes up to {@code looks} passes. Ends earlier when a pass finds a violation that is never allowed, or when every other violation was
     * absent in at least one pass.
     */
    static List<String> look(Scheduler s, boolean stopped, int looks) {
        Set<String> lasting = null;
        for (int i = 1;; i++) {
            InvariantChecks v = once(s, stopped);
            if (lasting == null) {
                lasting = v.doubtful;
            } else {
                lasting.retainAll(v.doubtful);
            }
            if (!v.broken.isEmpty() || lasting.isEmpty() || i >= looks) {
                v.broken.addAll(lasting);
                return new ArrayList<>(v.broken);
            }
            pause(Math.min(i, LONGEST_PAUSE_MILLIS));
        }
    }

    private static InvariantChecks once(Scheduler s, boolean stopped) {
        GStack st = GStack.enter();
        try {
            InvariantChecks v = stopped ? new StoppedInvariants(s) : new FlyingInvariants(s);
            v.run();
            return v;
        } finally {
            GStack.exit(st);
        }
    }

    /** Sleeps without unmounting, because a goroutine that stopped the world must not yield. */
    private static void pause(int millis) {
        JdkThreads.pin();
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            JdkThreads.unpin();
        }
    }
}
