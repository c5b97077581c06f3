// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;

import org.gmp4j.Cancelable;
import org.gmp4j.Go;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.proc.Awaited;
import org.gmp4j.proc.Deferred;
import org.gmp4j.proc.GStack;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Sema;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a number of goroutines to be done. Thread-safe, from goroutines, virtual threads and platform threads. An interrupt ends the
 * waits of virtual threads of a {@code Gmp} alone ({@link WaitInterruptedException}), and of all in {@link #awaitInterruptibly}.
 * In a bubble of {@code Synctest} the clock moves on while one waits. What is done before {@link #done} happens before the return
 * of the {@link #await} it lets go.
 *
 * <p>Rules. An {@link #add} that raises the counter from 0 comes before the {@link #await} that is to count it. A group may
 * be used again once all that waited have returned. A call that breaks a rule throws an {@link IllegalStateException}, if it
 * is noticed: both are races.
 *
 * <p>The state: the counter in the upper half, the number of waiters in the lower one. The call that brings the
 * counter to 0 while some wait has to clear the state and let them go. In between no other call may change it, which is how a
 * forbidden add is noticed. Source: Go's {@code sync.WaitGroup}.
 */
@NullMarked
public final class WaitGroup {
    private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), WaitGroup.class, "state", long.class);

    /** Written by anyone, by CAS; cleared by the call that lets the waiters go. */
    private volatile long state;
    private final Sema sema = new Sema();

    /** What starts goroutines of {@link #go}; null for the caller's scheduler. */
    private final @Nullable Executor on;

    /** A group with nothing to wait for. */
    public WaitGroup() {
        on = null;
    }

    /**
     * The same, whose {@link #go} may be called from any thread.
     *
     * @param on what starts them: a {@code Gmp}. With another executor, of goroutines or not, a task counts as done when it returns
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
     * Adds {@code delta}, which may be negative, to the counter; at 0 the waiters go on. A call that throws has changed nothing.
     *
     * @throws IllegalStateException "sync: negative WaitGroup counter"; "sync: WaitGroup misuse: Add called concurrently
     *     with Wait" when waiters of the last round are being let go
     */
    public void add(int delta) {
        if (delta > 0) {
            Headroom.check(); // Or there might be no room for done.
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
                    } catch (StackOverflowError e) { // Before it did anything.
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

    /** Work of an add for which there was no stack left. */
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
        state = 0; // Nothing begins to wait at a counter of 0, so the state is as we left it.
        for (int i = 0; i < waiters; i++) {
            sema.release(false);
        }
        GStack.exit(st);
    }

    /** {@code add(-1)}. */
    public void done() {
        add(-1);
    }

    /**
     * Waits until the counter is 0.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
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
     * As {@link #await}, for at most {@code d}.
     *
     * @return false when the time was up, and the counter not 0
     */
    public boolean awaitWithin(Duration d) {
        return await(Limits.within(d));
    }

    /**
     * As {@link #await}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; the interrupt status is cleared
     */
    public void awaitInterruptibly() throws InterruptedException {
        boolean _ = await(Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #await}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
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
        Sema.OfSema e = limits != Limits.DEFAULT || Ending.byDefault(st) ? new Sema.OfSema(sema, limits) : null;
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
                        sema.acquire(true, WaitReason.WAIT_GROUP); // It comes, or is there.
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
     * A waiter that is in no queue any more is counted out; false when it is being let go with the others. It was counted while the
     * counter was above 0, and that state lasts until all that are counted are let go at once.
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
     * Counts one more, runs {@code fn} as a goroutine of the caller's scheduler, or by the group's executor, and counts it done
     * when it and its deferred work have ended. One that an exception ends is counted after the exception was reported; in
     * program mode, where that ends the program, never.
     *
     * @throws IllegalStateException outside a goroutine, for a group without an executor; then nothing was counted
     */
    public void go(Runnable fn) {
        go(Objects.requireNonNull(fn, "go of nil func value"), null);
    }

    /** The same; at its end it gives one of {@code limit} back, before it is counted done. */
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
            try { // Of an executor that runs it as any Runnable.
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
            GStack.mine().report(end); // Does not return where it ends the program.
            over();
        }
    }
}
