// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Cancelable;
import org.gmp4j.Go;
import org.gmp4j.context.Context;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Goroutines that work on parts of one task. {@link #await} waits for all of them and throws what the first that failed
 * threw; the others run to their end. A wait for it is as one for a {@link WaitGroup}, at interrupts and in a bubble too.
 * Thread-safe; started from goroutines, or by {@link #on} from any thread. Source: Go's
 * {@code golang.org/x/sync/errgroup}.
 */
@NullMarked
public final class ErrGroup {
    private final WaitGroup wg;
    /** What starts goroutines; null for the caller's scheduler. */
    private final @Nullable Executor on;
    private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();
    /** One for each that may run; null without limit. */
    private volatile @Nullable Semaphore limit;
    /** Cancelled by the first failure, or at the end; null for none. */
    private final @Nullable Context context;

    /** An empty group without limit. */
    public ErrGroup() {
        this(null, null);
    }

    private ErrGroup(@Nullable Executor on, @Nullable Context context) {
        this.on = on;
        this.context = context;
        wg = on == null ? new WaitGroup() : new WaitGroup(on);
    }

    /** An empty group without limit, whose {@link #go} may be called from any thread; {@code on} starts its goroutines: a {@code Gmp}. */
    public static ErrGroup on(Executor on) {
        return new ErrGroup(Objects.requireNonNull(on, "on"), null);
    }

    /** As {@link #on(Executor)}, with a {@link #context} as by {@link #withContext}. */
    public static ErrGroup on(Executor on, Context parent) {
        return new ErrGroup(Objects.requireNonNull(on, "on"), parent.withCancel());
    }

    /**
     * An empty group with a {@link #context}, a child of {@code parent}: the first failure cancels it, so that the others need not
     * go on, and so does the end of {@link #await}.
     */
    public static ErrGroup withContext(Context parent) {
        return new ErrGroup(null, parent.withCancel());
    }

    /** The context that {@link #withContext} made; its cause is what the first that failed threw. Null for a group without. */
    public @Nullable Context context() {
        return context;
    }

    /**
     * At most {@code n} of the group run at a time; negative: no limit. 0 lets none start.
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
     * Runs {@code f} as a goroutine of the caller's scheduler; waits until the limit allows one more. Its result is
     * dropped; what it throws is kept for {@link #await}.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws IllegalStateException outside a goroutine
     */
    public void go(Callable<?> f) {
        check(f);
        Semaphore l = limit;
        if (l != null) {
            l.acquire(1);
        }
        start(f, l);
    }

    /**
     * As {@link #go}, until an interrupt of the calling thread ends the wait for the limit; then nothing was started.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     * @throws IllegalStateException as {@link #go}
     */
    public void goInterruptibly(Callable<?> f) throws InterruptedException {
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
     * As {@link #go}, until {@code ctx} is cancelled; then nothing was started.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits for the limit
     * @throws IllegalStateException as {@link #go}
     */
    public void goUnless(Cancelable ctx, Callable<?> f) {
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
     * As {@link #go}, waiting for the limit for {@code d} at most; zero or less is {@link #tryGo}.
     *
     * @return false when the time was up, and nothing was started
     * @throws IllegalStateException as {@link #go}
     */
    public boolean goWithin(Callable<?> f, Duration d) {
        check(f);
        Semaphore l = limit;
        if (l != null && !l.acquireWithin(1, d)) {
            return false;
        }
        start(f, l);
        return true;
    }

    /** Like {@link #go} if the limit allows one more; false when it does not. */
    public boolean tryGo(Callable<?> f) {
        check(f);
        Semaphore l = limit;
        if (l != null && !l.tryAcquire(1)) {
            return false;
        }
        start(f, l);
        return true;
    }

    private void check(Callable<?> f) {
        Objects.requireNonNull(f, "go of nil func value");
        if (on == null) {
            long _ = Go.goid(); // Throws outside a goroutine, before anything is counted.
        }
    }

    /** What a goroutine of the group does. No lambda: see HACKING, on errors that come from anywhere. */
    private record Work(ErrGroup of, Callable<?> f) implements Runnable {
        @Override
        public void run() {
            of.call(f);
        }
    }

    private void start(Callable<?> f, @Nullable Semaphore l) {
        try {
            wg.go(new Work(this, f), l); // Gives back before the group counts it done, so that setLimit is allowed right after await.
        } catch (Throwable t) {
            if (l != null) {
                l.release(1); // It was not started.
            }
            throw t;
        }
    }

    private void call(Callable<?> f) {
        try {
            f.call();
        } catch (Exception | Error e) { // Not goexit, which is no failure.
            Throwable before = first.compareAndExchange(null, e);
            if (before == null && context != null) {
                context.cancel(e);
            } else if (before != null && before != e) {
                before.addSuppressed(e);
            }
        }
    }

    /**
     * Waits until all have ended.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws Exception what the first one that failed threw; what others threw later is {@link Throwable#getSuppressed suppressed} in it
     */
    public void await() throws Exception {
        wg.await();
        end();
    }

    /**
     * As {@link #await}, until an interrupt of the calling thread ends it; the goroutines go on.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     * @throws Exception as {@link #await}
     */
    public void awaitInterruptibly() throws Exception {
        wg.awaitInterruptibly();
        end();
    }

    /**
     * As {@link #await}, until {@code ctx} is cancelled; the goroutines go on, unless {@link #context} is one of its children.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     * @throws Exception as {@link #await}
     */
    public void awaitUnless(Cancelable ctx) throws Exception {
        wg.awaitUnless(ctx);
        end();
    }

    /**
     * As {@link #await}, for {@code d} at most; zero or less only looks.
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
