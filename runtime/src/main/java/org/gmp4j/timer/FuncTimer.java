// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Outside;
import org.gmp4j.sched.base.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * A timer that starts a function. The function runs as a goroutine of the scheduler in which the timer was made, or as a virtual thread if
 * the timer was made outside all schedulers.
 */
public final class FuncTimer extends RuntimeTimer {
    private final Runnable fn;
    /** The scheduler in which the timer was made; null if it was made outside all schedulers. */
    private final @Nullable Scheduler s;
    /**
     * Whether the timer fired when there was no memory for the goroutine. Then the goroutine is started later, even if the timer is stopped
     * meanwhile. Guarded by the lock.
     */
    private boolean owed;

    private FuncTimer(Runnable fn) {
        super(new HeapMutex(LockRank.SEMA));
        this.fn = fn;
        GStack st = GStack.current();
        s = st == null ? null : st.scheduler();
    }

    /** {@code time.AfterFunc}: makes a timer that runs {@code fn} in {@code nanos} ns, and starts it. May be called on any thread. */
    public static FuncTimer start(long nanos, Runnable fn) {
        FuncTimer t = new FuncTimer(fn);
        GStack st = GStack.enter();
        try {
            boolean _ = t.reset(nanos);
        } finally {
            GStack.exit(st);
        }
        return t;
    }

    private static boolean goFromTimer(Scheduler s, @Nullable Bubble b, Runnable fn) {
        if (b == null) {
            return Newproc.newprocTimer(s, fn);
        }
        Runnable member = b.wrap(fn);
        boolean started = false;
        try {
            started = Newproc.newprocTimer(s, member);
        } finally {
            if (!started) {
                b.unwrap();
            }
        }
        return started;
    }

    /**
     * Starts {@code fn} as a goroutine of {@code s} and of bubble {@code b}, or as a virtual thread if {@code s} is null or closing. If
     * there is no memory this throws, so the caller must be able to try again. It may be called on sysmon, because it calls no handler of
     * the user.
     */
    public static void run(@Nullable Scheduler s, @Nullable Bubble b, Runnable fn) {
        if (s == null || !goFromTimer(s, b, fn)) {
            runOutside(fn);
        }
    }

    /**
     * Starts a virtual thread of the JDK. If the JDK's pool has no memory for its first thread, it may keep the virtual thread until it is
     * given another one.
     */
    private static void runOutside(Runnable fn) {
        FromOutside task = new FromOutside(fn, new AtomicBoolean());
        Outside.begins();
        try {
            Thread _ = Thread.startVirtualThread(task);
        } catch (Throwable e) {
            if (task.begins()) { // Otherwise the thread runs: the error came when the JDK's pool had the thread already.
                Outside.ends();
                if (e instanceof RejectedExecutionException) { // The pool had no memory for a longer queue.
                    throw new OutOfMemoryError(e.getMessage());
                }
                throw e;
            }
        }
    }

    /** Runs a function outside all schedulers, once. The function may ready goroutines, so its thread counts in {@link Outside}. */
    private record FromOutside(Runnable fn, AtomicBoolean begun) implements Runnable {
        boolean begins() {
            return begun.compareAndSet(false, true);
        }

        @Override
        public void run() {
            if (!begins()) {
                return; // The start has failed, and is repeated.
            }
            try {
                fn.run();
            } finally {
                Outside.ends();
            }
        }
    }

    @Override
    protected void look(long now) {
        boolean fires = owed || when != 0 && now >= when;
        try {
            if (fires && !owed) {
                when = 0;
                disarm();
            } else if (when != 0) {
                arm();
            }
            owed = false;
        } finally {
            lock.unlock();
        }
        if (fires) {
            start();
        }
    }

    private void start() {
        try {
            run(s, bubble, fn);
        } catch (OutOfMemoryError e) {
            lock.lock();
            owed = true;
            lock.unlock();
            throw e;
        }
    }

    /** {@inheritDoc} If there is no memory, nothing changes. */
    @Override
    public boolean reset(long nanos) {
        lock.lock();
        long before = when;
        try {
            when = in(nanos);
            arm();
        } catch (Throwable e) {
            when = before;
            throw e;
        } finally {
            lock.unlock();
        }
        return before != 0;
    }
}
