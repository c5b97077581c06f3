// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.gmp4j.proc.Awaited;
import org.gmp4j.stack.Goexit;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A goroutine with a result: see {@link Go#async} and {@link Gmp#submit}. It is done when its deferred work has ended too; its result
 * is null when it called {@link Go#goexit}. What it throws is given to those that ask for the result, and reported nowhere else.
 * Thread-safe.
 *
 * <p>All methods may be called by goroutines, virtual threads and platform threads. An interrupt ends {@link #get} on all of them, and
 * {@link #join} on virtual threads of a {@code Gmp} ({@link WaitInterruptedException}). In a bubble of {@code Synctest} its clock moves on
 * while {@link #join} and {@link #get()} wait for a task of the bubble.
 *
 * @param <T> the type of its result
 */
@NullMarked
public final class Task<T> implements Future<T> {
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    /** Closed when the outcome is there. */
    private final Chan<Void> done = Chan.make();
    /** Where it runs; null before and after. With the monitor, so that nobody interrupts the thread for another goroutine's sake. */
    private @Nullable Thread runner;

    /** A task that {@link #running} tells. */
    Task() {
        done.setReceiveOnly();
    }

    /** What a goroutine is to run; tells {@code task}. */
    private static final class Run<T> extends Awaited {
        private final Task<T> task;
        private final Callable<T> fn;
        private @Nullable T result;

        Run(Task<T> task, Callable<T> fn) {
            this.task = task;
            this.fn = fn;
        }

        @Override
        public void run() {
            if (!task.begins()) {
                return;
            }
            try {
                result = fn.call();
            } catch (Throwable t) {
                throw Go.<RuntimeException>sneaky(t);
            }
        }

        @Override
        protected boolean cancelable() {
            return true;
        }

        @Override
        protected void ended(@Nullable Throwable end) {
            task.ends(end == Goexit.INSTANCE ? null : result, end == Goexit.INSTANCE ? null : end);
        }
    }

    /** What the one goroutine is to run whose result this gives. */
    Runnable running(Callable<T> fn) {
        return new Run<>(this, fn);
    }

    /**
     * Returns whether the function is to run: false when the task was cancelled before. A cancel completes the outcome first and reads
     * {@link #runner} afterwards; this writes the runner first and reads the outcome afterwards: a cancel that comes too late to keep
     * the function from running finds the thread to interrupt.
     */
    private synchronized boolean begins() {
        runner = Thread.currentThread();
        return !outcome.isDone();
    }

    private void ends(@Nullable T result, @Nullable Throwable thrown) {
        synchronized (this) {
            runner = null; // What comes after this interrupts nobody; what came before goes with the goroutine.
        }
        complete(thrown == null ? outcome.complete(result) : outcome.completeExceptionally(asFailure(thrown)));
    }

    /**
     * Returns the exception for the outcome. A CompletableFuture takes a CancellationException for its own cancellation, and gives a
     * CompletionException's cause in its place; from the task both are failures like others.
     */
    private static Throwable asFailure(Throwable thrown) {
        return thrown instanceof CancellationException || thrown instanceof CompletionException ? new CompletionException(thrown) : thrown;
    }

    private void complete(boolean first) {
        if (first) {
            done.closeReceiveOnly();
        }
    }

    /**
     * Waits until it is done and returns its result.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws CancellationException when it was cancelled
     * @throws CompletionException when it threw a checked exception, which is the cause; another is thrown as it is, the same
     *     object
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits
     */
    public @Nullable T join() {
        Object _ = done.recv();
        return result();
    }

    /**
     * As {@link #join}, until {@code ctx} is cancelled, which does not cancel the task.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     */
    public @Nullable T joinUnless(Cancelable ctx) {
        Object _ = done.recvUnless(ctx);
        return result();
    }

    /** Waits, and cancels it when {@code limits} have ended that; false when the time was up. */
    boolean waitOrCancel(Limits limits) {
        boolean over = false;
        try {
            over = done.recvOk(limits) != null;
            return over;
        } finally {
            if (!over) {
                boolean _ = cancel();
            }
        }
    }

    /** What {@link Gmp#run} and its like do with the outcome: whatever was thrown is thrown as it is. */
    @Nullable T rethrown() {
        if (outcome.isCompletedExceptionally() && !outcome.isCancelled()) {
            throw Go.<RuntimeException>sneaky(outcome.exceptionNow());
        }
        return outcome.join();
    }

    private T result() {
        if (outcome.isCompletedExceptionally() && !outcome.isCancelled()) {
            Throwable t = outcome.exceptionNow();
            if (t instanceof RuntimeException || t instanceof Error) {
                throw Go.<RuntimeException>sneaky(t);
            }
            throw new CompletionException(t);
        }
        return outcome.join();
    }

    /** A channel that is closed when it is done: for {@link Select}. */
    public RecvChan<Void> done() {
        return done;
    }

    /** {@link #cancel(boolean) cancel(true)}. */
    public boolean cancel() {
        return cancel(true);
    }

    /**
     * Has it done at once, without a result, if it is not. A task that has not begun then never runs. One that has begun goes on until
     * it ends by itself; with {@code interrupt} its thread is interrupted, which ends what it waits for here or in the JDK, as a
     * {@link WaitInterruptedException} or {@link InterruptedException}; locks of this library go on waiting. Does not wait for that.
     *
     * @return false when it was done before
     */
    @Override
    public boolean cancel(boolean interrupt) {
        boolean first = outcome.completeExceptionally(new CancellationException());
        if (first && interrupt) {
            synchronized (this) {
                if (runner != null) {
                    runner.interrupt();
                }
            }
        }
        complete(first);
        return first;
    }

    /** A future that is completed as this is. Completing or cancelling that future changes nothing here. */
    public CompletableFuture<T> toCompletableFuture() {
        return outcome.copy();
    }

    @Override
    public @Nullable T get() throws InterruptedException, ExecutionException {
        if (!outcome.isDone()) { // An interrupt ends a wait; where the outcome is there nothing waits.
            Object _ = done.recvInterruptibly();
        }
        return outcome.get();
    }

    @Override
    public @Nullable T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        Duration limit = Duration.ofNanos(unit.toNanos(timeout)); // That of 292 years for more.
        if (!outcome.isDone() && done.recvOkWithinInterruptibly(limit) == null) {
            throw new TimeoutException();
        }
        return outcome.get();
    }

    @Override
    public boolean isDone() {
        return outcome.isDone();
    }

    @Override
    public boolean isCancelled() {
        return outcome.isCancelled();
    }

    @Override
    public @Nullable T resultNow() {
        return outcome.resultNow();
    }

    @Override
    public Throwable exceptionNow() {
        return outcome.exceptionNow();
    }

    @Override
    public State state() {
        return outcome.state();
    }
}
