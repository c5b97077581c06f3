// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import java.lang.invoke.MethodHandles;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.StackMaker;
import org.gmp4j.stack.HiddenExecutor;
import org.gmp4j.stack.Stack;

/** Makes stacks. It is a class of its own because {@link JdkStack} is also used where this JVM cannot run goroutines. */
public final class Stacks {
    private static final JdkStack MAKER;

    static {
        new HiddenExecutor(JdkStack.class).maker("pooled", Scheduler.class).maker("ofTask", Scheduler.class, Runnable.class)
                .maker("ofThread", Scheduler.class, Thread.class).define(MethodHandles.lookup());
        MAKER = JdkStack.made;
    }

    private Stacks() {
    }

    /** Makes stacks for the loop. It is a class of its own so that {@link Stacks} is initialised only when a goroutine needs a stack. */
    public static final class Maker extends StackMaker {
        @Override
        public Stack pooled(Scheduler s) {
            return MAKER.pooled(s);
        }

        @Override
        public Stack ofThread(Scheduler s, Thread virtualThread) {
            return MAKER.ofThread(s, virtualThread);
        }
    }

    /** Returns a virtual thread, not started, that will run on the Ps of {@code s}. */
    public static Thread newThread(Scheduler s, Runnable task) {
        return ofTask(s, task).thread;
    }

    /** Returns the stack of a new virtual thread that this scheduler runs: see {@code Gmp.threadFactory}. */
    static GStack ofTask(Scheduler s, Runnable task) {
        return MAKER.ofTask(s, task);
    }
}
