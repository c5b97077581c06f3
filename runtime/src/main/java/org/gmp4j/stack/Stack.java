// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.Executor;

import jdk.internal.vm.Continuation;
import org.jspecify.annotations.Nullable;

/**
 * A goroutine's stack: a virtual thread of the JDK that the runtime mounts and unmounts itself.
 *
 * <p>The stack is the virtual thread's scheduler (its {@link Executor}). So the JDK calls the stack itself when the thread is to run, and
 * code inside a goroutine finds its stack through {@code Thread.currentThread()}. That takes three dependent loads and allocates nothing. A
 * compiler may use the value of {@code Thread.currentThread()} again after a yield. That does no harm, because the identity of a virtual
 * thread does not change when it migrates.
 */
public abstract class Stack implements Executor, Runnable {
    private static final VarHandle HOLD;

    static {
        try {
            HOLD = MethodHandles.lookup().findVarHandle(Stack.class, "hold", DumpHold.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The virtual thread. */
    public final Thread thread;
    /** The continuation of the virtual thread. */
    final Continuation cont;

    /** The entry of this stack in the table of stacks; null if the stack itself is the entry and so lives as long as its goroutine. */
    public final @Nullable StackRef ref;

    /** The M on which this stack is mounted. Written by that M before it mounts the stack; read by code on the stack. */
    @SuppressWarnings("NullAway.Init") // Null before the first mount. It is set when code on the stack runs.
    public Host host;

    /** The number of chunks that {@link JdkThreads#frozen} found. Written by that method, while no other thread uses the stack. */
    public int chunks;

    /** The next stack in a list of unfinished switches; null for none. Accessed by the thread that owns the stack at that time. */
    public @Nullable Stack nextUnfinished;

    /** Whether the continuation ever ran. Written by the M that runs it. */
    boolean begun;

    /** The hold of a dump that reads the mounted stack; null for none. Written by {@link DumpHold}, read by the host before it unmounts. */
    volatile @Nullable DumpHold hold;

    /**
     * Makes a pooled stack: a new virtual thread that will run {@link #run}, and is never started through the JDK.
     *
     * @param container the stack's {@link JdkContainer}. Its type is Object because that class cannot be loaded if a flag of the JVM is
     *     missing.
     */
    protected Stack(Object container) {
        thread = JdkThreads.newVirtualThread(this, this);
        cont = JdkThreads.continuation(thread);
        ref = null;
        JdkThreads.setContainer(thread, container);
    }

    /** Makes the stack of a new virtual thread with an identity of its own, to be started by {@code Thread.start}. */
    protected Stack(Runnable task) {
        thread = JdkThreads.newVirtualThread(this, task);
        cont = JdkThreads.continuation(thread);
        ref = null;
    }

    /**
     * Makes the stack of an existing virtual thread, which user code or the JDK made and started.
     *
     * @param collected the queue for {@link #ref} when the stack has been collected; null if the stack must not be collected
     */
    protected Stack(Thread virtualThread, @Nullable ReferenceQueue<Stack> collected) {
        thread = virtualThread;
        cont = JdkThreads.continuation(thread);
        ref = collected == null ? null : new StackRef(this, collected);
        JdkThreads.setScheduler(thread, this);
    }

    /** Runs goroutines on a pooled stack: the task of its virtual thread. */
    @Override
    public abstract void run();

    /** Returns the entry for the table of stacks while the goroutine {@code gp} runs on this stack. */
    public final Object entry(long gp) {
        StackRef r = ref;
        if (r == null) {
            return this;
        }
        r.setGp(gp);
        return r;
    }

    /** Returns whether the thread has ended. */
    public final boolean ended() {
        return cont.isDone();
    }

    /** Returns whether {@code task} continues this stack's own thread, and not a thread that inherited this stack as its scheduler. */
    public final boolean isMine(Runnable task) {
        return task == JdkThreads.runContinuation(thread);
    }

    /**
     * Schedules {@code task}: this stack's own continuation, or the continuation of a virtual thread that inherited this stack as its
     * scheduler. The JDK calls this on any thread, at any time, and possibly more than once for one wake-up.
     */
    @Override
    public abstract void execute(Runnable task);

    /**
     * Returns the timer for the timed wait that the JDK is about to begin on this stack, or null if the JDK's own executor is to limit the
     * wait. Called on the host's own stack.
     *
     * @throws OutOfMemoryError when there is no memory for the timer
     */
    protected abstract @Nullable Timeout timeout();

    /**
     * Ends the wait with this number, whose time limit has passed. Does nothing if that wait is over. Called without locks on a thread that
     * runs timers.
     */
    public abstract void timedOut(int wait);

    /**
     * Handles an exception that the JDK's code has thrown after the thread's task, and that has ended the thread. Called on the host's own
     * stack.
     */
    protected abstract void escaped(Throwable t);

    final boolean casHold(@Nullable DumpHold from, @Nullable DumpHold to) {
        return HOLD.compareAndSet(this, from, to);
    }

    /** Returns the stack of a thread that is a goroutine, or null for any other thread. */
    public static @Nullable Stack of(Thread t) {
        return t.isVirtual() && JdkThreads.scheduler(t) instanceof Stack st && st.thread == t ? st : null;
    }

    /** Returns the stack on which the caller runs, or null if the caller is not a goroutine. */
    public static @Nullable Stack current() {
        return of(Thread.currentThread());
    }
}
