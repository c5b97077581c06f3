// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Cancelable;
import org.gmp4j.Go;
import org.gmp4j.context.Context;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * A group of goroutines that work on parts of one task. {@link #await} waits for all of them and throws the first exception. After a
 * failure the other goroutines run to their end. Interrupts and bubbles affect waits as in a {@link WaitGroup}. Thread-safe. Only
 * goroutines may call {@link #go}, unless {@link #on} made the group. Source: Go's {@code golang.org/x/sync/errgroup}.
 */
public final class ErrGroup {
    /** The work of a goroutine, which may fail with any exception. */
    @FunctionalInterface
    public interface Body {
        /**
         * Does the work.
         *
         * @throws Exception when the work fails
         */
        void run() throws Exception;
    }

    private final WaitGroup wg;
    /** The executor that starts goroutines; null for the caller's scheduler. */
    private final @Nullable Executor on;
    private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();
    /** A semaphore of which each running goroutine holds a unit; null without limit. */
    private volatile @Nullable Semaphore limit;
    /** The context, which the first failure or the end of await cancels; null for a group without one. */
    private final @Nullable Context context;

    /** Makes an empty group without limit. */
    public ErrGroup() {
        this(null, null);
    }

    private ErrGroup(@Nullable Executor on, @Nullable Context context) {
        this.on = on;
        this.context = context;
        wg = on == null ? new WaitGroup() : new WaitGroup(on);
    }

    /**
     * Makes an empty group without limit, whose {@link #go} any thread may call. {@code on}, usually a {@code Gmp}, starts its goroutines.
     */
    public static ErrGroup on(Executor on) {
        return new ErrGroup(Objects.requireNonNull(on, "on"), null);
    }

    /**
     * Makes an empty group without limit, with an executor, like {@link #on(Executor)}, and with a {@link #context}, like {@link
     * #withContext}.
     */
    public static ErrGroup on(Executor on, Context parent) {
        return new ErrGroup(Objects.requireNonNull(on, "on"), parent.withCancel());
    }

    /**
     * Makes an empty group with a {@link #context}, which is a child of {@code parent}. The first failure cancels the context, so that the
     * other goroutines can end early. The end of {@link #await} cancels it, too.
     */
    public static ErrGroup withContext(Context parent) {
        return new ErrGroup(null, parent.withCancel());
    }

    /**
     * Returns the context that {@link #withContext} made, or null if the group has none. Its cause is the exception of the first goroutine
     * that failed.
     */
    public @Nullable Context context() {
        return context;
    }

    /**
     * Sets how many goroutines of the group may run at a time. With 0 no goroutine starts. A negative {@code n} removes the limit.
     *
     * @throws IllegalStateException "errgroup: modify limit while N goroutines in the group are still active"
     */
    public void setLimit(int n) {
        Semaphore old = limit;
        long active = old == null ? 0 : old.held();
        if (active != 0) {
            throw new IllegalStateException(
                    "errgroup: modify limit while " + active + " goroutines in the group are still active");
        }
        limit = n < 0 ? null : new Semaphore(n);
    }

    /**
     * Waits until the limit allows one more goroutine, and starts {@code f} as a goroutine of the caller's scheduler, or by the group's
     * executor. {@link #await} throws the exception of {@code f}.
     *
     * @throws IllegalStateException when the group has no executor and the caller is not a goroutine
     */
    public void go(Body f) {
        check(f);
        Semaphore l = limit;
        if (l != null) {
            l.acquire(1);
        }
        start(f, l);
    }

    /**
     * Like {@link #go}, this waits for the limit and starts {@code f}, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; {@code f} was not started, and the
     *     interrupt status is cleared
     * @throws IllegalStateException as {@link #go}
     */
    public void goInterruptibly(Body f) throws InterruptedException {
        check(f);
        Semaphore l = limit;
        if (l != null) {
            l.acquireInterruptibly(1);
        } else {
            Limits.INTERRUPTIBLY.check();
        }
        start(f, l);
    }

    /**
     * Like {@link #go}, this waits for the limit and starts {@code f}, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; {@code f} was not started
     * @throws IllegalStateException as {@link #go}
     */
    public void goUnless(Cancelable ctx, Body f) {
        check(f);
        Semaphore l = limit;
        if (l != null) {
            l.acquire(ctx, 1);
        } else {
            Limits.until(ctx).check();
        }
        start(f, l);
    }

    /**
     * Like {@link #go}, this waits for the limit and starts {@code f}, but waits for {@code d} at most. If {@code d} is zero or less, it
     * does not wait, like {@link #tryGo}.
     *
     * @return false when the time was up, and {@code f} was not started
     * @throws IllegalStateException as {@link #go}
     */
    public boolean goWithin(Body f, Duration d) {
        check(f);
        Semaphore l = limit;
        if (l != null && !l.acquireWithin(1, d)) {
            return false;
        }
        start(f, l);
        return true;
    }

    /** Starts {@code f} as {@link #go} does, if the limit allows one more goroutine. Returns false when it does not. */
    public boolean tryGo(Body f) {
        check(f);
        Semaphore l = limit;
        if (l != null && !l.tryAcquire(1)) {
            return false;
        }
        start(f, l);
        return true;
    }

    private void check(Body f) {
        Objects.requireNonNull(f, "go of nil func value");
        if (on == null) {
            long _ = Go.goid(); // It throws if the caller is not a goroutine, before the counters change.
        }
    }

    /** The work of a goroutine of the group. */
    private record Work(ErrGroup of, Body f) implements Runnable {
        @Override
        public void run() {
            of.call(f);
        }
    }

    private void start(Body f, @Nullable Semaphore l) {
        try {
            wg.go(new Work(this, f), l); // The goroutine releases its unit before it counts as done, so setLimit may follow await.
        } catch (Throwable t) {
            if (l != null) {
                l.release(1); // The goroutine has not started.
            }
            throw t;
        }
    }

    private void call(Body f) {
        try {
            f.run();
        } catch (Exception | Error e) { // A goexit is neither, because it is no failure.
            Throwable before = first.compareAndExchange(null, e);
            if (before == null && context != null) {
                context.cancel(e);
            } else if (before != null && before != e) {
                before.addSuppressed(e);
            }
        }
    }

    /**
     * Waits until all goroutines of the group have ended.
     *
     * @throws Exception the exception of the first goroutine that failed, in which later exceptions of others are
     *     {@link Throwable#getSuppressed suppressed}
     */
    public void await() throws Exception {
        wg.await();
        end();
    }

    /**
     * Like {@link #await}, this waits for the goroutines, but an interrupt of the calling thread ends the wait. The goroutines go on.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     * @throws Exception as {@link #await}
     */
    public void awaitInterruptibly() throws Exception {
        wg.awaitInterruptibly();
        end();
    }

    /**
     * Like {@link #await}, this waits for the goroutines, but a cancel of {@code ctx} ends the wait. The goroutines go on. If the
     * group's {@link #context} is a child of {@code ctx}, it is cancelled as well.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     * @throws Exception as {@link #await}
     */
    public void awaitUnless(Cancelable ctx) throws Exception {
        wg.awaitUnless(ctx);
        end();
    }

    /**
     * Like {@link #await}, this waits for the goroutines, but for {@code d} at most. If {@code d} is zero or less, it does not wait.
     *
     * @return false when the time was up; the goroutines go on
     * @throws Exception as {@link #await}
     */
    public boolean awaitWithin(Duration d) throws Exception {
        boolean all = wg.awaitWithin(d);
        if (all) {
            end();
        }
        return all;
    }

    private void end() throws Exception {
        Throwable t = first.get();
        if (context != null) {
            context.cancel(t);
        }
        if (t instanceof Error e) {
            throw e;
        }
        if (t != null) {
            throw (Exception) t;
        }
    }
}
