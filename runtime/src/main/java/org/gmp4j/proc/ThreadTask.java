// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

/** Wraps the task of a virtual thread with an identity, so that it ends as every goroutine does. */
record ThreadTask(Runnable task) implements Runnable {
    /** Returns the task that {@code task} wraps, or {@code task} itself. */
    static Runnable inside(Runnable task) {
        return task instanceof ThreadTask wrapper ? wrapper.task : task;
    }

    @Override
    public void run() {
        GoroutineExit.run(GStack.mine(), task);
    }
}
