// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.Set;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Deferred;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * Notifies a wait of an interrupt of its thread. The JDK reports the interrupt of a thread to the selector in which that thread blocks.
 * This class is a selector only for that reason: {@code AbstractSelector.begin} registers it with the thread, and {@code end} removes it.
 * The JDK calls {@link #wakeup} for threads of all kinds, on the interrupting thread, after the JDK has released its own lock.
 *
 * <p>A goroutine's stack keeps one hook for all its waits. Any other thread makes a small hook for each wait.
 *
 * <p>The JDK may call late: the thread may have ended the interrupted wait, have cleared its interrupt status, and be in another wait. Such
 * a call ends no wait wrongly. The call first reads which wait is under way, and then the status. If the status is clear, the call does
 * nothing. If the status is set and that wait still goes on, an interrupt came during the wait or before it, and rightly ends it. A call
 * that comes in time finds the status set, because no code clears the status during a wait.
 */
public final class InterruptHook extends AbstractSelector {
    /** A wait that is notified. */
    @FunctionalInterface
    public interface Told {
        /**
         * Called when the waiting thread is interrupted. The caller is the interrupting thread, or sysmon if that thread has too little
         * stack left, or {@link #on} if the interrupt came before the wait.
         */
        void interrupted();
    }

    private final Thread thread = Thread.currentThread();
    /** The wait that is under way; null for none. Written by the waiting thread. */
    private volatile @Nullable Told told;

    private InterruptHook() {
        super(null);
    }

    /**
     * Returns the hook of the calling goroutine's stack, and makes it at the first call. On any other thread returns a new hook.
     *
     * @throws OutOfMemoryError when there is no memory for it
     */
    public static InterruptHook mine() {
        JdkStack st = (JdkStack) GStack.current();
        InterruptHook h = st == null ? null : (InterruptHook) st.interruptHook;
        if (h == null) {
            h = new InterruptHook();
            if (st != null) {
                st.interruptHook = h;
            }
        }
        return h;
    }

    /** Notifies {@code wait} of interrupts of the calling thread, until {@link #off}. A thread has at most one such wait. */
    public void on(Told wait) {
        told = wait;
        JdkThreads.pin(); // begin takes a lock of the JDK. While an interrupting thread holds it, briefly, the caller waits with its P.
        try {
            begin();
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Ends the notification of a wait. A notification that is under way may still arrive. Further calls have no effect. */
    public void off() {
        told = null;
        JdkThreads.pin();
        try {
            end();
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Notifies the wait. Called by the JDK when the thread was interrupted. */
    @Override
    public Selector wakeup() {
        Told wait = told; // Read before the status: see the class comment.
        // If too little stack is left, sysmon makes the call, or this thread if no sysmon runs. An interrupt must neither fail nor be lost.
        if (wait != null && thread.isInterrupted()
                && (Headroom.enough() || !Deferred.add(new Late(wait)))) {
            wait.interrupted();
        }
        return this;
    }

    /** Sysmon's notification of a wait, in place of an interrupting thread that has too little stack left. */
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
