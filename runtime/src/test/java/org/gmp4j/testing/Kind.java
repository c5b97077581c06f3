// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;

import org.gmp4j.WaitInterruptedException;

/**
 * A kind of threads, and how one is started that runs a task.
 *
 * @param name in messages
 * @param goroutine whether it is a goroutine of a scheduler
 * @param endsByInterrupt whether an interrupt ends its plain waits
 * @param start starts one; it has begun when this returns
 */
public record Kind(String name, boolean goroutine, boolean endsByInterrupt, Function<Runnable, Thread> start) {
    /** A wait in one of its forms. */
    @FunctionalInterface
    public interface Form {
        /** Waits. False when the time was up. */
        boolean await() throws Exception;
    }

    /** All there are. */
    public static List<Kind> of(TestGmp gmp) {
        return List.of(new Kind("goroutine", true, false, task -> started(gmp::go, task)),
                new Kind("task", true, true, task -> started(r -> gmp.gmp.submit(() -> {
                    r.run();
                    return null;
                }), task)), new Kind("thread of the scheduler", true, true, task -> {
                    Thread t = gmp.gmp.threadFactory().newThread(task);
                    t.start();
                    return t;
                }), new Kind("virtual thread", false, false, Thread::startVirtualThread),
                new Kind("platform thread", false, false, task -> Thread.ofPlatform().daemon().start(task)));
    }

    private static Thread started(Consumer<Runnable> start, Runnable task) {
        AtomicReference<Thread> me = new AtomicReference<>();
        start.accept(() -> {
            me.set(Thread.currentThread());
            task.run();
        });
        while (me.get() == null) {
            Thread.onSpinWait();
        }
        return me.get();
    }

    /** What may throw as a form that always comes to its end. */
    public static Form always(Threads.Body body) {
        return () -> {
            try {
                body.run();
                return true;
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        };
    }

    /**
     * How a wait ended on a thread of this kind: what it returned, the name of an interrupt's exception, or another exception; and
     * whether the thread was interrupted afterwards.
     */
    public Object on(Form f, Consumer<Thread> meanwhile) throws InterruptedException {
        LinkedBlockingQueue<Object> end = new LinkedBlockingQueue<>();
        Thread t = start.apply(() -> end.add(said(f)));
        meanwhile.accept(t);
        return end.take();
    }

    /** The same on this thread. */
    public static Object said(Form f) {
        try {
            return f.await() + (Thread.interrupted() ? " interrupted" : "");
        } catch (InterruptedException | WaitInterruptedException e) {
            return e.getClass().getSimpleName() + (Thread.interrupted() ? " interrupted" : "");
        } catch (Exception | AssertionError e) {
            return e;
        }
    }

    /** Once early, when it may not have begun to wait yet, and once when it does, or most likely. */
    public static void pause(int round) {
        if (round == 1) {
            LockSupport.parkNanos(500_000);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
