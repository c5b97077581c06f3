// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.stack.Stack;

/** Makes stacks for the loop. The class of these stacks has the methods that the JDK calls. */
public abstract class StackMaker {
    protected StackMaker() {
    }

    /** Returns a new pooled stack, which runs goroutines without an identity one after the other. */
    public abstract Stack pooled(Scheduler s);

    /** Returns the stack of a virtual thread that the JDK started with a GStack as its scheduler. */
    public abstract Stack ofThread(Scheduler s, Thread virtualThread);
}
