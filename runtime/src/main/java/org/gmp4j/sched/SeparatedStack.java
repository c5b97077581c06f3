// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.sched.base.HiddenStacks;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * Separates the frames of a goroutine that waits for known objects from the goroutine's thread, for a search for leaks
 * ({@link HiddenStacks}). The JVM, an agent or a library may refer to the thread, and through it to the stack, although they cannot end the
 * wait. (A JVMTI agent that sees a class loaded on the thread refers to the thread for as long as the thread lives.) While the world is
 * stopped, this object in place of the thread refers to the frames and to the objects for which the goroutine waits.
 */
public final class SeparatedStack {
    /** The goroutine's stack. */
    public final GStack st;
    private @Nullable Object frames;
    private Park.@Nullable Unlock unlock;
    private @Nullable Object lock;

    /** Makes the object for a goroutine that waits, and leaves its stack as it is. */
    public SeparatedStack(GStack st) {
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

    /** Puts the frames and the fields back. Called before the world is started again. */
    public void putBack() {
        st.parkUnlock = unlock;
        st.parkLock = lock;
        JdkThreads.putFrames(st, frames);
        unlock = null;
        lock = null;
        frames = null;
    }
}
