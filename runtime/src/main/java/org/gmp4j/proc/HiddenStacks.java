// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.struct.GSlots;
import org.jspecify.annotations.Nullable;

/**
 * The stacks of goroutines that a search for leaks has taken out of {@link GSlots} while the world is stopped ({@code
 * report.LeakSearch}).
 */
public abstract class HiddenStacks {
    /** For subclasses. */
    protected HiddenStacks() {
    }

    /** The stack of a goroutine; null when it was not taken, or is reachable no more. */
    protected abstract @Nullable GStack stack(long gp);

    /** A goroutine was woken, and is runnable, by a thread that is not on a P of its scheduler: its stack is put back. */
    static void woken(Scheduler s, long gp) {
        HiddenStacks hidden = s.hidden;
        if (hidden != null) {
            GStack st = hidden.stack(gp);
            if (st != null) {
                GSlots.setStack(gp, st);
            }
        }
    }

    /** The stack of a goroutine, for readers while a search may be under way; null when it has none. */
    public static @Nullable GStack of(Scheduler s, long gp) {
        GStack st = (GStack) GSlots.stack(gp);
        HiddenStacks hidden = s.hidden;
        if (st != null) {
            return st;
        }
        return hidden != null ? hidden.stack(gp) : (GStack) GSlots.stack(gp); // Else it was put back since the first look.
    }
}
