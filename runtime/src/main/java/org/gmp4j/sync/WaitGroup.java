// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;

import org.gmp4j.Cancelable;
import org.gmp4j.Go;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.sched.Awaited;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Deferred;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Sema;
import org.gmp4j.wait.WaitCancellation;
import org.jspecify.annotations.Nullable;

/**
 * Waits until a number of goroutines are done. Thread-safe. Goroutines, virtual threads and platform threads may use it. An interrupt ends
 * only the waits of virtual threads of a {@code Gmp} ({@link WaitInterruptedException}), and the waits of all threads in
 * {@link #awaitInterruptibly}. In a bubble of {@code Synctest} the clock moves on during a wait. The actions of a thread before
 * {@link #done} happen before the return of an {@link #await} that this call ends.
 *
 * <p>Rules. An {@link #add} that raises the counter from 0 must come before the {@link #await} that is to wait for it. A group may be used
 * again once all waits have returned. A breach of these rules is a race, which is not always detected. A call that detects it throws an
 * {@link IllegalStateException}.
 *
 * <p>The state has the counter in its upper half, and the number of waiters in the lower one. The call that brings the counter to 0 while
 * there are waiters has to clear the state and to release the waiters. Until then no other call may change the state. An add that would
 * change it is detected as misuse. Source: Go's {@code sync.WaitGroup}.
 */
public final class WaitGroup {
    private static final HeapLong<WaitGroup> STATE = HeapLong.of(MethodHandles.lookup(), WaitGroup.class, "state");

    /** Any thread writes it by CAS. A release of waiters clears it, or restores it when it fails, by a volatile store. */
    private volatile long state;
    private final Sema sema = new Sema();

    /** The executor of {@link #go}; null for the caller's scheduler. */
    private final @Nullable Executor on;

    /** Makes a group whose counter is 0, and whose {@link #go} only goroutines may call. */
    public WaitGroup() {
        on = null;
    }

    /**
     * Makes a group whose counter is 0, and whose {@link #go} any thread may call.
     *
     * @param on the executor that starts the goroutines, usually a {@code Gmp}. With any other executor a task counts as done when it
     *     returns
     */
    public WaitGroup(Executor on) {
        this.on = Objects.requireNonNull(on, "on");
    }

    private static int counter(long state) {
        return (int) (state >> Integer.SIZE);
    }

    private static int waiters(long state) {
        return (int) state;
    }

    /**
     * Adds {@code delta}, which may be negative, to the counter. If the counter becomes 0, the waits end. A call that throws has changed
     * nothing.
     *
     * @throws IllegalStateException "sync: negative WaitGroup counter"; or "sync: WaitGroup misuse: Add called concurrently with Wait"
     *     while the waiters of the last use are being released
     */
    public void add(int delta) {
        if (delta > 0) {
            Headroom.check(); // The stack must have room for done as well.
        }
        for (;;) {
            long s = state;
            int n = counter(s) + delta;
            int waiters = waiters(s);
            if (n < 0) {
                throw new IllegalStateException("sync: negative WaitGroup counter");
            }
            if (waiters != 0 && delta > 0 && counter(s) == 0) {
                throw new IllegalStateException("sync: WaitGroup misuse: Add called concurrently with Wait");
            }
            if (STATE.compareAndSet(this, s, s + ((long) delta << Integer.SIZE))) {
                if (n == 0 && waiters != 0 && delta != 0) {
                    try {
                        letGo(waiters);
                    } catch (StackOverflowError e) { // letGo has changed nothing yet.
                        if (!Deferred.add(new LettingGo(this, waiters))) {
                            state = s;
                            throw e;
                        }
                    }
                }
                return;
            }
        }
    }

    /** The release of waiters for an add that had too little stack. */
    private static final class LettingGo extends Deferred {
        private final WaitGroup group;
        private final int waiters;

        LettingGo(WaitGroup group, int waiters) {
            this.group = group;
            this.waiters = waiters;
        }

        @Override
        protected void run() {
            group.letGo(waiters);
        }
    }

    private void letGo(int waiters) {
        GStack st = GStack.enterToGive();
        state = 0; // No other call changes it: add refuses, and no wait begins or leaves while the counter is 0.
        for (int i = 0; i < waiters; i++) {
            sema.release(false);
        }
        GStack.exit(st);
    }

    /** Subtracts 1 from the counter: {@code add(-1)}. */
    public void done() {
        add(-1);
    }

    /**
     * Waits until the counter is 0.
     *
     * @throws IllegalStateException "sync: WaitGroup is reused before previous Wait has returned"
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits
     */
    public void await() {
        if (counter(state) != 0) {
            boolean _ = await(Limits.DEFAULT);
        }
    }

    /**
     * Like {@link #await}, this waits until the counter is 0, but for at most {@code d}.
     *
     * @return false when the time was up, and the counter was not 0
     */
    public boolean awaitWithin(Duration d) {
        return await(Limits.within(d));
    }

    /**
     * Like {@link #await}, this waits until the counter is 0, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; the interrupt status is cleared
     */
    public void awaitInterruptibly() throws InterruptedException {
        boolean _ = await(Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #await}, this waits until the counter is 0, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     */
    public void awaitUnless(Cancelable ctx) {
        boolean _ = await(Limits.until(ctx));
    }

    private boolean await(Limits limits) {
        limits.check();
        if (counter(state) == 0) {
            return true;
        }
        if (limits.expired()) {
            return false;
        }
        boolean reused = false;
        GStack st = GStack.enter();
        Sema.OfSema e = limits != Limits.DEFAULT || WaitCancellation.byDefault(st) ? new Sema.OfSema(sema, limits) : null;
        try {
            if (e != null) {
                e.begin();
            }
            for (long s = state; counter(s) != 0; s = state) {
                if (STATE.compareAndSet(this, s, s + 1)) {
                    if (!sema.acquire(false, WaitReason.WAIT_GROUP, e)) {
                        if (leave()) {
                            return e == null || !e.timeUp();
                        }
                        sema.acquire(true, WaitReason.WAIT_GROUP); // A unit for this waiter was released, or will be soon.
                    }
                    reused = state != 0;
                    break;
                }
            }
        } finally {
            if (e != null) {
                e.finish();
            }
            GStack.exit(st);
        }
        if (reused) {
            throw new IllegalStateException("sync: WaitGroup is reused before previous Wait has returned");
        }
        return true;
    }

    /**
     * Subtracts 1 from the number of waiters, for a waiter that has left the queue. Returns false when this waiter is being released with
     * the others. The waiter was counted while the counter was above 0. Since then the counter can have become 0 only in a call that
     * releases all counted waiters at once.
     */
    private boolean leave() {
        for (long s = state; counter(s) != 0 && waiters(s) != 0; s = state) {
            if (STATE.compareAndSet(this, s, s - 1)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Adds 1 to the counter, and starts {@code fn} as a goroutine of the caller's scheduler, or by the group's executor. Subtracts 1 when
     * the goroutine and its deferred work have ended. If an exception has ended the goroutine, the report of the exception comes first. In
     * program mode such a report ends the program.
     *
     * @throws IllegalStateException when the group has no executor and the caller is not a goroutine; the counter has not changed
     */
    public void go(Runnable fn) {
        go(Objects.requireNonNull(fn, "go of nil func value"), null);
    }

    /** Starts {@code fn} as {@link #go(Runnable)} does. The goroutine's end releases one unit of {@code limit}, and then subtracts 1. */
    void go(Runnable fn, @Nullable Semaphore limit) {
        add(1);
        boolean started = false;
        try {
            Counted c = new Counted(this, fn, limit);
            if (on == null) {
                Go.go(c);
            } else {
                on.execute(c);
            }
            started = true;
        } finally {
            if (!started) {
                done();
            }
        }
    }

    /** A goroutine that {@link #go} started. */
    private static final class Counted extends Awaited {
        private final WaitGroup group;
        private final Runnable fn;
        private final @Nullable Semaphore limit;

        Counted(WaitGroup group, Runnable fn, @Nullable Semaphore limit) {
            this.group = group;
            this.fn = fn;
            this.limit = limit;
        }

        @Override
        public void run() {
            GStack st = GStack.current();
            if (st != null && st.tells(this)) {
                fn.run();
                return;
            }
            try { // The executor is no Gmp, and does not call ended.
                fn.run();
            } finally {
                over();
            }
        }

        private void over() {
            if (limit != null) {
                limit.release(1);
            }
            group.done();
        }

        @Override
        protected void ended(@Nullable Throwable end) {
            GStack.mine().report(end); // It does not return if it ends the program.
            over();
        }
    }
}
