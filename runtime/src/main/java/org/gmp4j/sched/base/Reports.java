// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.stack.JdkContainer;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.GSlots;

/** The loop's interface to the reports of errors. Package {@code report} implements it. */
public interface Reports {
    /** Loads the code for reports while there is memory. Called before each scheduler is made. */
    void prepare();

    /**
     * Reports a fatal error of the program, with Go's text and all stacks, and ends the process.
     *
     * @param before text in front of the error's line, with its newline; may be empty
     * @return never; the type lets callers write throw
     */
    Error fatal(Scheduler s, String before, String message);

    /** Reports an exception that has left the loop of an M, which is a bug of the runtime, and ends the process. */
    void broken(Scheduler s, Throwable t);

    /** Reports an exception that has ended a goroutine. Called on its stack, after its deferred work. Never throws. */
    void uncaught(Stack st, Throwable t);

    /** Reports an exception that has left the JDK's own code at the end of a virtual thread. Called on g0. Never throws. */
    void escaped(Throwable t);

    /** Returns the container that shows the goroutines of the scheduler of that name in the JDK's thread dumps. */
    JdkContainer container(String scheduler, GSlots slots);
}
