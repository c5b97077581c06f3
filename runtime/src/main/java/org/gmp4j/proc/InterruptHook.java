// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;

import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * Tells a wait that its thread was interrupted. The JDK reports interrupts to a thread that blocks in an interruptible channel or a
 * selector: this is a selector that is used for nothing else ({@code AbstractSelector.begin} and {@code end}). It is called for
 * threads of all kinds, on the thread that interrupts, after the JDK has given its lock back.
 *
 * <p>A goroutine's stack keeps its one hook, about 200 bytes with what the JDK puts into a selector; any other thread makes one for
 * each wait.
 *
 * <p>The JDK may call late, when the thread has left that wait, has cleared its interrupt status, and waits again. Such a call ends
 * nothing: it reads first which wait is under way, then the status. If the status is set then, it was set during that wait or before
 * it, as nothing clears it during a wait.
 */
public final class InterruptHook extends AbstractSelector {
    /** A wait. */
    @FunctionalInterface
    public interface Told {
        /** Its thread is interrupted. Called by the interrupting thread, by sysmon for it, or by {@link #on} if that was before. */
        void interrupted();
    }

    private final Thread thread = Thread.currentThread();
    /** The wait that is under way; null for none. Written by its thread. */
    private volatile @Nullable Told told;

    private InterruptHook() {
        super(null);
    }

    /**
     * The hook of the calling thread.
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
        JdkThreads.pin(); // The JDK takes a lock that an interrupting thread holds for a moment: if need be this waits with its P.
        try {
            begin();
        } finally {
            JdkThreads.unpin();
        }
    }

    /** The wait is over; a call that is under way may still come. Harmless when repeated. */
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
                && (Headroom.enough() || !Deferred.add(new Late(wait)))) { // An interrupt must neither fail nor be lost.
            wait.interrupted();
        }
        return this;
    }

    /** An interrupt by a thread that has too little stack left to wake the waiter: sysmon does it. */
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
