// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.gmp4j.sched.GStack;
import org.gmp4j.stack.Goexit;
import org.gmp4j.stack.JdkThreads;

/**
 * Wraps the JDK's thread-per-task executor, so that tasks end like goroutines. Deferred work is part of the task: a future is done, and a
 * closed executor is terminated, only after that work. {@code Go.goexit} ends a task without a result.
 */
public final class TaskExecutor implements ExecutorService {
    private final ExecutorService jdk;

    /** Makes an executor that runs each task in a new thread of {@code threads}, which are goroutines. */
    public TaskExecutor(ThreadFactory threads) {
        jdk = Executors.newThreadPerTaskExecutor(threads);
    }

    private static <T> Callable<T> whole(Callable<T> task) {
        return new Whole<>(Objects.requireNonNull(task));
    }

    /** A task with its deferred work. */
    private record Whole<T>(Callable<T> task) implements Callable<T> {
        @Override
        @SuppressWarnings("NullAway") // The result is null if the task returned null or called goexit.
        public T call() {
            T result = null;
            Throwable end = null;
            try {
                result = task.call();
            } catch (Throwable t) {
                end = t;
            }
            end = GStack.mine().runDeferred(end);
            if (end == Goexit.INSTANCE) {
                return null;
            }
            if (end != null) {
                throw JdkThreads.sneaky(end);
            }
            return result;
        }
    }

    private record ToEnd(Runnable task) implements Runnable {
        @Override
        public void run() {
            GStack.mine().runToEnd(task);
        }
    }

    private static <T> List<Callable<T>> whole(Collection<? extends Callable<T>> tasks) {
        List<Callable<T>> all = new ArrayList<>(tasks.size());
        for (Callable<T> task : tasks) {
            all.add(whole(task));
        }
        return all;
    }

    @Override
    public void execute(Runnable task) {
        jdk.execute(new ToEnd(Objects.requireNonNull(task)));
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        return jdk.submit(whole(task));
    }

    @Override
    public <T> Future<T> submit(Runnable task, T result) {
        return jdk.submit(whole(Executors.callable(task, result)));
    }

    @Override
    public Future<?> submit(Runnable task) {
        return jdk.submit(whole(Executors.callable(task)));
    }

    @Override
    public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks) throws InterruptedException {
        return jdk.invokeAll(whole(tasks));
    }

    @Override
    public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException {
        return jdk.invokeAll(whole(tasks), timeout, unit);
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks) throws InterruptedException, ExecutionException {
        return jdk.invokeAny(whole(tasks));
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return jdk.invokeAny(whole(tasks), timeout, unit);
    }

    @Override
    public void shutdown() {
        jdk.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return jdk.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return jdk.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return jdk.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return jdk.awaitTermination(timeout, unit);
    }

    @Override
    public void close() {
        jdk.close();
    }
}
