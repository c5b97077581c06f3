// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

import org.jspecify.annotations.Nullable;

/**
 * The entry in the table of stacks for the stack of a virtual thread that may be collected while it waits. It holds the stack, except while
 * the scheduler has dropped it. {@code sched.base.Collected} describes when the scheduler drops it, and which threads have such an entry.
 *
 * <p>An entry refers to the stack in three ways. The strong reference keeps a stack that can run although only the table refers to it. The
 * weak reference finds a dropped stack that is reachable, for dumps and searches. The phantom reference is enqueued when no code can ever
 * reach the stack again. The weak reference does not show that, because it is cleared before finalizers run, and a finalizer may reach the
 * thread and wake it.
 */
public final class StackRef extends PhantomReference<Stack> {
    private final WeakReference<Stack> weak;
    /**
     * The stack; null while it is dropped. Written by the M that parks the thread, and then by the code that wakes it; park and wake are
     * ordered. Read by any thread. A reader that sees an old null finds the same stack by the weak reference.
     */
    private @Nullable Stack held;
    /** The goroutine; 0 before it has one. Written by {@link Stack#entry} before the reference is in the table. */
    private long gp;

    /**
     * Makes an entry that holds {@code st}.
     *
     * @param collected the queue for this entry when the stack is unreachable
     */
    public StackRef(Stack st, ReferenceQueue<Stack> collected) {
        super(st, collected);
        weak = new WeakReference<>(st);
        held = st;
    }

    /**
     * Drops {@code st}, the stack of this entry, so that it may be collected if there is no other reference to it. If the weak reference
     * was cleared, and a finalizer has made the stack reachable again, the stack stays held, so that dumps still find it.
     */
    public void drop(Stack st) {
        if (weak.get() == st) {
            held = null;
        }
    }

    /** Holds {@code st}, the stack of this entry, again. */
    public void hold(Stack st) {
        held = st;
    }

    public boolean isHeld() {
        return held != null;
    }

    /** Returns the stack, or null if the collector has found that at most a finalizer can reach it. */
    public @Nullable Stack stack() {
        Stack st = held;
        return st == null ? weak.get() : st;
    }

    void setGp(long gp) {
        this.gp = gp;
    }

    /** Returns the goroutine on the stack, or 0 if there was never one. */
    public long gp() {
        return gp;
    }
}
