// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

import org.jspecify.annotations.Nullable;

/**
 * Stands in the table of stacks for the stack of a virtual thread that the collector may take while it waits. It holds the stack except
 * while the scheduler drops it; {@code proc/Collected} says when, and which threads have one.
 *
 * <p>It refers to the stack in three ways. The strong reference keeps a stack that can run, and that only the table knows. The weak one
 * finds a dropped stack that is reachable, for dumps and searches. The phantom one tells that no code can ever reach the stack again. The
 * weak one alone would not do for that: it is cleared before finalizers run, and a finalizer may reach the thread, and wake it.
 */
public final class StackRef extends PhantomReference<Stack> {
    private final WeakReference<Stack> weak;
    /**
     * Null while the stack is dropped. Written by the M that parks the thread and by the code that wakes it, in turns that are ordered;
     * read by any thread. A late reader finds the same stack by the weak reference.
     */
    private @Nullable Stack held;
    /** The goroutine; 0 before it has one. Written by {@link Stack#entry} before the reference is in the table. */
    private long gp;

    /**
     * Holds {@code st}.
     *
     * @param collected where this comes when the stack cannot be reached any more
     */
    public StackRef(Stack st, ReferenceQueue<Stack> collected) {
        super(st, collected);
        weak = new WeakReference<>(st);
        held = st;
    }

    /**
     * From here on the collector may take {@code st}, the stack that this is of, if nothing else holds it. A stack that the weak reference
     * has lost, and a finalizer has brought back, is held for good, so that dumps go on finding it.
     */
    public void drop(Stack st) {
        if (weak.get() == st) {
            held = null;
        }
    }

    /** Holds {@code st}, the stack that this is of. */
    public void hold(Stack st) {
        held = st;
    }

    /** Whether it holds the stack. */
    public boolean isHeld() {
        return held != null;
    }

    /** The stack; null once the collector has found that only a finalizer can reach it, or nothing. */
    public @Nullable Stack stack() {
        Stack st = held;
        return st == null ? weak.get() : st;
    }

    void setGp(long gp) {
        this.gp = gp;
    }

    /** The goroutine on the stack; 0 if none ever was. */
    public long gp() {
        return gp;
    }
}
