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
     * A goroutine that waits for known things, apart from its thread. The JVM, an agent or a library may refer to the thread, and through
     * that to the stack, for reasons of their own (a JVMTI agent that sees a class loaded there does for the thread's life); none of them
     * can end the wait. While the world is stopped the frames, and what the goroutine waits for, are reachable from here only.
     */
    protected static final class Apart {
        /** Its stack. */
        public final GStack st;
        private @Nullable Object frames;
        private Park.@Nullable Unlock unlock;
        private @Nullable Object lock;

        /** Of a goroutine that waits; nothing is taken yet. */
        public Apart(GStack st) {
            this.st = st;
        }

        /** Takes frames and all off the stack. Takes no memory. */
        public void take() {
            unlock = st.parkUnlock;
            lock = st.parkLock;
            st.parkUnlock = null;
            st.parkLock = null;
            frames = JdkThreads.takeFrames(st);
        }

        /** Puts them back; before the world goes on. */
        public void putBack() {
            st.parkUnlock = unlock;
            st.parkLock = lock;
            JdkThreads.putFrames(st, frames);
            unlock = null;
            lock = null;
            frames = null;
        }
    }

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

    /** Whether a search is under way, so that stacks may lack their frames. */
    public static boolean areHidden(Scheduler s) {
        return s.hidden != null;
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
