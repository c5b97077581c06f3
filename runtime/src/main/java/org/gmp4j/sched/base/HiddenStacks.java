// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;
import org.jspecify.annotations.Nullable;

/**
 * The stacks of goroutines that a search for leaks has taken out of {@link GSlots} while the world is stopped ({@code
 * report.LeakSearch}).
 */
public abstract class HiddenStacks {
    protected HiddenStacks() {
    }

    /** Returns the stack of a goroutine; null when it was not taken, or is no longer reachable. */
    public abstract @Nullable Stack stack(long gp);

    /** Puts back the stack of a goroutine that was woken. Called by its waker, which runs without a P of the stopped scheduler. */
    public final void woken(long gp) {
        Stack st = stack(gp);
        if (st != null) {
            GSlots.setStack(gp, st);
        }
    }
}
