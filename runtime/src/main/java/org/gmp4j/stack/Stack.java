// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.Executor;

import jdk.internal.vm.Continuation;
import org.jspecify.annotations.Nullable;

/**
 * A goroutine's stack: a JDK virtual thread that we drive ourselves.
 *
 * <p>The stack is the virtual thread's scheduler (its {@link Executor}), so the JDK tells the stack itself when it wants
 * the thread run, and code inside a goroutine finds its stack through {@code Thread.currentThread()}: three dependent
 * loads, no memory of its own, and, unlike anything reached through the carrier thread, nothing the compiler could carry
 * across a yield wrongly. The identity of a virtual thread does not change when it migrates.
 */
public abstract class Stack implements Executor, Runnable {
    private static final VarHandle HOLD;

    static {
        try {
            HOLD = MethodHandles.lookup().findVarHandle(Stack.class, "hold", Hold.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The virtual thread. */
    public final Thread thread;
    /** What it runs on. */
    final Continuation cont;

    /** What stands for this in the table of stacks; null for a stack that stands there itself, and so lives as long as its goroutine. */
    public final @Nullable StackRef ref;

    /** The M this stack is mounted on. Written by that M before it mounts the stack; read by code on the stack. */
    @SuppressWarnings("NullAway.Init") // Null before the first time; code on the stack finds it set.
    public Host host;

    /** How many chunks {@link JdkThreads#frozen} found; written by the caller, which alone has the stack then. */
    public int chunks;

    /** Whether the continuation ever ran. Written by the M that runs it. */
    boolean begun;

    /** Set while a thread dump looks at the stack where it is mounted: by {@link Hold}, read by the host. */
    volatile @Nullable Hold hold;

    /**
     * A pooled stack: a new virtual thread that will run {@link #run}, never started through the JDK.
     *
     * @param container the {@link JdkContainer} it is in; not named by its type, which cannot be loaded where a flag is missing
     */
    protected Stack(Object container) {
        thread = JdkThreads.newVirtualThread(this, "", this);
        cont = JdkThreads.continuation(thread);
        ref = null;
        JdkThreads.setContainer(thread, container);
    }

    /** The stack of a new virtual thread with an identity of its own, to be started by {@code Thread.start}. */
    protected Stack(Runnable task) {
        thread = JdkThreads.newVirtualThread(this, "", task);
        cont = JdkThreads.continuation(thread);
        ref = null;
    }

    /**
     * The stack of an existing virtual thread: one that user code or the JDK made and started.
     *
     * @param collected where {@link #ref} comes when the collector has taken the stack; null if the collector may not take it
     */
    protected Stack(Thread virtualThread, @Nullable ReferenceQueue<Stack> collected) {
        thread = virtualThread;
        cont = JdkThreads.continuation(thread);
        ref = collected == null ? null : new StackRef(this, collected);
        JdkThreads.setScheduler(thread, this);
    }

    /** What a pooled stack's virtual thread runs. */
    @Override
    public abstract void run();

    /** What stands in the table of stacks while the goroutine {@code gp} is on this one. */
    public final Object entry(long gp) {
        StackRef r = ref;
        if (r == null) {
            return this;
        }
        r.setGp(gp);
        return r;
    }

    /** Whether its thread has run to its end. */
    public final boolean ended() {
        return cont.isDone();
    }

    /** Whether the JDK means this stack's own thread by {@code task}, and not one that inherited us. */
    public final boolean isMine(Runnable task) {
        return task == JdkThreads.runContinuation(thread);
    }

    /**
     * The JDK wants {@code task} run: this stack's own continuation, or that of a virtual thread which inherited this
     * stack as its scheduler. From any thread, at any time, and possibly more than once for one wake-up.
     */
    @Override
    public abstract void execute(Runnable task);

    /**
     * The limit of the wait that the JDK is about to complete on this stack; null when that is left to the JDK's own executor. On the
     * host's own stack.
     *
     * @throws OutOfMemoryError when there is no memory for it
     */
    protected abstract @Nullable Timeout timeout();

    /** The limit of the wait of this number has passed; the wait may be over. From a thread that runs timers, without locks. */
    public abstract void timedOut(int wait);

    /** An exception came out of the JDK's code after the thread's task, which ended the thread. On the host's own stack. */
    protected abstract void escaped(Throwable t);

    final boolean casHold(@Nullable Hold from, @Nullable Hold to) {
        return HOLD.compareAndSet(this, from, to);
    }

    /** The stack of a virtual thread of ours, or null. */
    public static @Nullable Stack of(Thread t) {
        return t.isVirtual() && JdkThreads.scheduler(t) instanceof Stack st && st.thread == t ? st : null;
    }

    /** The stack this code runs on, or null when it runs on no goroutine. */
    public static @Nullable Stack current() {
        return of(Thread.currentThread());
    }
}
