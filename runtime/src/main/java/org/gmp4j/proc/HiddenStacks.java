// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.GSlots;
import org.jspecify.annotations.Nullable;

/**
 * The stacks of goroutines that a search for leaks has taken out of {@link GSlots} while the world is stopped ({@code
 * report.LeakSearch}).
 */
public abstract class HiddenStacks {
    /**
     * A goroutine that waits for known objects, separated from its thread. The JVM, an agent or a library may refer to the thread, and
     * through it to the stack, for reasons of their own, and none of them can end the wait. (A JVMTI agent that sees a class loaded on
     * the thread refers to it as long as it lives.) While the world is stopped, the frames, and the objects for which the goroutine
     * waits, are reachable from here only.
     */
    protected static final class Apart {
        /** The goroutine's stack. */
        public final GStack st;
        private @Nullable Object frames;
        private Park.@Nullable Unlock unlock;
        private @Nullable Object lock;

        /** Makes one for a goroutine that waits, and takes nothing off its stack yet. */
        public Apart(GStack st) {
            this.st = st;
        }

        /** Takes the frames and the fields of the park off the stack. Allocates nothing. */
        public void take() {
            unlock = st.parkUnlock;
            lock = st.parkLock;
            st.parkUnlock = null;
            st.parkLock = null;
            frames = JdkThreads.takeFrames(st);
        }

        /** Puts them back. Called before the world is started again. */
        public void putBack() {
            st.parkUnlock = unlock;
            st.parkLock = lock;
            JdkThreads.putFrames(st, frames);
            unlock = null;
            lock = null;
            frames = null;
        }
    }

    /** Called by subclasses. */
    protected HiddenStacks() {
    }

    /** Returns the stack of a goroutine; null when it was not taken, or is no longer reachable. */
    protected abstract @Nullable GStack stack(long gp);

    /** Puts the stack of a goroutine back that was woken and is runnable. Called by a waker that has no P of its scheduler. */
    final void woken(long gp) {
        GStack st = stack(gp);
        if (st != null) {
            GSlots.setStack(gp, st);
        }
    }

    /** Returns whether a search is under way, so that stacks may lack their frames. */
    public static boolean areHidden(Scheduler s) {
        return s.hidden != null;
    }

    /** Returns the stack of a goroutine, for readers while a search may be under way; null when it has none. */
    public static @Nullable GStack of(Scheduler s, long gp) {
        GStack st = (GStack) GSlots.stack(gp);
        HiddenStacks hidden = s.hidden;
        if (st != null) {
            return st;
        }
        return hidden != null ? hidden.stack(gp) : (GStack) GSlots.stack(gp); // Read again: it may have been put back since.
    }
}
