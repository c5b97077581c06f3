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
 * Notifies a wait of an interrupt of its thread. The JDK reports interrupts of a thread to the selector in which it blocks. This selector
 * serves only that purpose ({@code AbstractSelector.begin} and {@code end}). The JDK calls it for threads of all kinds, on the thread that
 * interrupts, after the JDK has released its own lock.
 *
 * <p>A goroutine's stack keeps one hook for all its waits. Any other thread makes a hook, which is small, for each wait.
 *
 * <p>The JDK may call late, when the thread has ended that wait, has cleared its interrupt status, and waits again. Such a call ends no
 * wait wrongly. The call first reads which wait is under way, and then the status. If the status is set, an interrupt came during that wait
 * or before it, because no code clears the status during a wait.
 */
public final class InterruptHook extends AbstractSelector {
    /** A wait that is notified. */
    @FunctionalInterface
    public interface Told {
        /**
         * Called when the waiting thread is interrupted: by the interrupting thread, by sysmon for that thread, or within {@link #on} if
         * the interrupt came before.
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
     * Returns the hook of the calling thread, which it makes if there is none.
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

    /** Notifies {@code wait}, the calling thread's one wait, of interrupts until {@link #off}. */
    public void on(Told wait) {
        told = wait;
        JdkThreads.pin(); // Keeps the P: the JDK takes a lock that an interrupting thread holds briefly.
        try {
            begin();
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Ends the notification of a wait. A notification that is under way may still arrive. More calls have no effect. */
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
        if (wait != null && thread.isInterrupted()
                && (Headroom.enough() || !Deferred.add(new Late(wait)))) { // An interrupt must neither fail nor be lost.
            wait.interrupted();
        }
        return this;
    }

    /** The notification for a thread that has too little stack left to wake the waiter. Sysmon makes it. */
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
