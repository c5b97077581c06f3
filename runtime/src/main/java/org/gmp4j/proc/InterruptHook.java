// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;

import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;

/**
 * Tells a wait that its thread was interrupted. The JDK tells whoever blocks in an interruptible channel or a selector: this is a
 * selector of which nothing is used but that ({@code AbstractSelector.begin} and {@code end}). It is told for threads of all kinds, on
 * the thread that interrupts, after the JDK's lock is free.
 *
 * <p>A goroutine's stack keeps its one hook, about 200 bytes with what the JDK puts into a selector; another thread makes one for each
 * wait.
 *
 * <p>The JDK may tell late, when the thread has left that wait, has cleared its interrupt status, and waits again. Such a call ends
 * nothing: it reads first which wait there is, then the status. A status that is set now was set while the thread was in that
 * wait, or before it: in a wait nobody clears it.
 */
public final class InterruptHook extends AbstractSelector {
    /** A wait. */
    @FunctionalInterface
    public interface Told {
        /** Its thread is interrupted. Called by whoever does that, by sysmon in its place, or by {@link #on} when it was before. */
        void interrupted();
    }

    private final Thread thread = Thread.currentThread();
    /** The wait that is under way; written by its thread. */
    private volatile Told told;

    private InterruptHook() {
        super(null);
    }

    /**
     * The calling thread's.
     *
     * @throws OutOfMemoryError when there is no memory for it
     */
    public static InterruptHook mine() {
        GStack st = GStack.current();
        InterruptHook h = st == null ? null : st.interruptHook;
        if (h == null) {
            h = new InterruptHook();
            if (st != null) {
                st.interruptHook = h;
            }
        }
        return h;
    }

    /** From here on {@code wait}, of this thread, is told, until {@link #off}; one at a time. */
    public void on(Told wait) {
        told = wait;
        JdkThreads.pin(); // The JDK takes a lock for a moment, held by who interrupts: this thread waits for it with its P, if it must.
        try {
            begin();
        } finally {
            JdkThreads.unpin();
        }
    }

    /** It is told no more; a call that is under way may still come. Harmless when repeated. */
    public void off() {
        told = null;
        JdkThreads.pin();
        try {
            end();
        } finally {
            JdkThreads.unpin();
        }
    }

    /** The JDK's word that the thread was interrupted. */
    @Override
    public Selector wakeup() {
        Told wait = told; // Before the status: see the class comment.
        if (wait != null && thread.isInterrupted()
                && (Headroom.enough() || !Deferred.add(new Late(wait)))) { // An interrupt is not to fail, nor to be lost.
            wait.interrupted();
        }
        return this;
    }

    /** An interrupt by a thread that has not the stack to wake anybody: sysmon does it. */
    private static final class Late extends Deferred {
        private final Told wait;

        Late(Told wait) {
            this.wait = wait;
        }

        @Override
        protected void run() {
            wait.interrupted();
        }
    }

    @Override
    protected void implCloseSelector() {
    }

    @Override
    protected SelectionKey register(AbstractSelectableChannel ch, int ops, Object att) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Set<SelectionKey> keys() {
        return Set.of();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        return Set.of();
    }

    @Override
    public int selectNow() {
        return 0;
    }

    @Override
    public int select(long timeout) {
        return 0;
    }

    @Override
    public int select() {
        return 0;
    }
}
