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

import org.gmp4j.sched.Awaited;
import org.gmp4j.stack.Goexit;
import org.gmp4j.wait.DoneChans;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * A goroutine with a result: see {@link Go#async} and {@link Gmp#submit}. It is done when its function and its deferred work have ended,
 * or when it is cancelled. Its result is null when it called {@link Go#goexit}. The methods that return the result throw the goroutine's
 * exception, which is reported nowhere else. Thread-safe.
 *
 * <p>Goroutines, virtual threads and platform threads may call all methods. An interrupt ends {@link #get} on threads of all kinds, and
 * {@link #join} on virtual threads of a {@code Gmp} ({@link WaitInterruptedException}). In a bubble of {@code Synctest} the bubble's clock
 * moves on while {@link #join} and {@link #get()} wait for a task of the bubble.
 *
 * @param <T> the type of its result
 */
public final class Task<T> implements Future<T> {
    private final CompletableFuture<T> outcome = new CompletableFuture<>();
    /** This channel is closed when the outcome is set. */
    private final Chan<Void> done = Chan.make();
    /**
     * The thread that runs the function; null before and after. The monitor of this task guards it, so that no cancel interrupts the thread
     * when it already runs another goroutine.
     */
    private @Nullable Thread runner;

    /** Makes a task. The goroutine that runs the function from {@link #running} sets its outcome. */
    Task() {
        Chan<Void> _ = DoneChans.keep(done);
    }

    /** The function of a goroutine, which sets the outcome of {@code task}. */
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

    /** Returns the function of the goroutine that sets this task's outcome. */
    Runnable running(Callable<T> fn) {
        return new Run<>(this, fn);
    }

    /**
     * Returns false when the task was cancelled, so that the function must not run. A cancel completes the outcome and then reads {@link
     * #runner}; this method writes the runner and then reads the outcome. So a cancel that is too late to prevent the run finds the thread
     * to interrupt.
     */
    private synchronized boolean begins() {
        runner = Thread.currentThread();
        return !outcome.isDone();
    }

    private void ends(@Nullable T result, @Nullable Throwable thrown) {
        synchronized (this) {
            runner = null; // After this a cancel interrupts no thread. The effect of an earlier interrupt ends with the goroutine.
        }
        closeDoneIf(thrown == null ? outcome.complete(result) : outcome.completeExceptionally(asFailure(thrown)));
    }

    /**
     * Returns the exception for the outcome. A CompletableFuture treats a CancellationException as its own cancellation, and replaces a
     * CompletionException by its cause. So an exception of either type is wrapped if the function throws it.
     */
    private static Throwable asFailure(Throwable thrown) {
        return thrown instanceof CancellationException || thrown instanceof CompletionException ? new CompletionException(thrown) : thrown;
    }

    private void closeDoneIf(boolean first) {
        if (first) {
            DoneChans.close(done);
        }
    }

    /**
     * Waits until this task is done and returns its result.
     *
     * @throws CancellationException when the task was cancelled
     * @throws CompletionException when the task threw a checked exception, which is the cause. An unchecked exception is thrown as it is
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits
     */
    public @Nullable T join() {
        Object _ = done.recv();
        return result();
    }

    /**
     * Like {@link #join}, this waits and returns the result, but a cancel of {@code ctx} ends the wait. The task is not cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     */
    public @Nullable T joinUnless(Cancelable ctx) {
        Object _ = done.recvUnless(ctx);
        return result();
    }

    /** Waits, and cancels the task when {@code limits} end the wait. Returns false when the time was up. */
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

    /** Returns the result, or throws the task's exception as it is, checked or not, as {@link Gmp#run} does. */
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

    /** Returns a channel that is closed when this task is done, for a {@link Select}. */
    public RecvChan<Void> done() {
        return done;
    }

    /** Cancels this task and interrupts its thread: {@link #cancel(boolean) cancel(true)}. */
    public boolean cancel() {
        return cancel(true);
    }

    /**
     * Cancels this task: it is done at once, without a result, unless it is done already. If its function has not begun, the function never
     * runs. If the function has begun, it goes on until it ends by itself, and its thread is interrupted if {@code interrupt} is true. The
     * interrupt ends a wait in this library by a {@link WaitInterruptedException}, and a wait in the JDK by an {@link
     * InterruptedException}. It does not end a wait for a lock of this library. This method does not wait for the task's end.
     *
     * @return false when the task was done before
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
        closeDoneIf(first);
        return first;
    }

    /** Returns a future that completes as this task does. Completing or cancelling that future does not change this task. */
    public CompletableFuture<T> toCompletableFuture() {
        return outcome.copy();
    }

    @Override
    public @Nullable T get() throws InterruptedException, ExecutionException {
        if (!outcome.isDone()) { // If the task is done, an interrupt has no effect.
            Object _ = done.recvInterruptibly();
        }
        return outcome.get();
    }

    @Override
    public @Nullable T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        Duration limit = Duration.ofNanos(unit.toNanos(timeout)); // The conversion saturates at 292 years.
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
