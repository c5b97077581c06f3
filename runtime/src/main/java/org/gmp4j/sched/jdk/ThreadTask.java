// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.GoroutineExit;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.Stack;

/**
 * Wraps the task of a virtual thread with an identity, so that the thread ends as every goroutine does. The program has a reference to such
 * a {@link Thread} (see {@code Gmp.threadFactory}).
 */
public record ThreadTask(Runnable task) implements Runnable {
    /** Returns the task that {@code task} wraps, or {@code task} itself. */
    static Runnable inside(Runnable task) {
        return task instanceof ThreadTask wrapper ? wrapper.task : task;
    }

    /** Returns the class of the task of a stack's thread, which must have an identity: see {@link JdkThreads#taskClass}. */
    public static Class<?> classOf(Stack st) {
        return JdkThreads.taskClass(inside(JdkThreads.task(st)));
    }

    @Override
    public void run() {
        GoroutineExit.run(GStack.mine(), task);
    }
}
