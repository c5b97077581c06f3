// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import java.nio.channels.spi.AbstractSelector;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.HiddenExecutor;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * The stack of a goroutine, with methods for its thread in the JDK: they schedule it, limit its waits, and report exceptions of the JDK's
 * code. {@code Stacks} makes the instances, all of one hidden class ({@link HiddenExecutor}).
 */
public abstract class JdkStack extends GStack {
    /** The instance that makes the other stacks. Written by the initialiser of their class. */
    @SuppressWarnings("NullAway.Init")
    static JdkStack made;

    /**
     * The {@code InterruptHook} of the goroutine's waits; null until a wait needs one. Goroutines write it, and later ones on this stack
     * reuse it.
     */
    @Nullable AbstractSelector interruptHook;
    /** The timer of waits in the JDK; null until a wait has a limit of time. Written by the M that parks the goroutine. */
    private @Nullable Timeout timeout;

    /** Makes the instance that makes the other stacks and never runs. */
    JdkStack() {
    }

    JdkStack(Scheduler s) {
        super(s);
    }

    /** Makes a new virtual thread that this scheduler runs: see {@code Gmp.threadFactory}. */
    JdkStack(Scheduler s, Runnable task) {
        super(s, new ThreadTask(task));
    }

    /** Makes the stack of a virtual thread whose scheduler in the JDK is a GStack. */
    JdkStack(Scheduler s, Thread virtualThread) {
        super(s, virtualThread);
        if (!(JdkThreads.task(this) instanceof ThreadTask)) { // The task is wrapped already if an earlier start has failed.
            JdkThreads.setTask(this, new ThreadTask(JdkThreads.task(this)));
        }
    }

    abstract JdkStack pooled(Scheduler s);

    abstract JdkStack ofTask(Scheduler s, Runnable task);

    abstract JdkStack ofThread(Scheduler s, Thread virtualThread);

    /** Implements {@code execute}. */
    final void submitted(Runnable task) {
        JdkReady.execute(this, task);
    }

    @Override
    protected final void escaped(Throwable t) {
        scheduler().reports.escaped(t);
    }

    @Override
    protected final @Nullable Timeout timeout() {
        if (JdkThreads.JDK_MOUNT) {
            return null;
        }
        Timeout t = timeout;
        if (t == null) {
            t = scheduler().timers().timeout(this);
            timeout = t;
        }
        return t;
    }

    @Override
    public final void timedOut(int wait) {
        JdkReady.timedOut(this, wait);
    }
}
