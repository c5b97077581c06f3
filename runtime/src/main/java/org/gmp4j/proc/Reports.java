// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import org.gmp4j.stack.JdkContainer;
import org.gmp4j.struct.GSlots;

/**
 * What the loop tells when something has gone wrong, and what it tells of itself. Package {@code report}, which the loop does not know,
 * implements it.
 */
public interface Reports {
    /** Before the first scheduler, and before each: loads what a report needs while there is memory. */
    void prepare();

    /**
     * A fatal error of the program: Go's text, all stacks, the end of the process.
     *
     * @param before text before the line, with its newline; may be empty
     * @return never; typed so that callers can write throw
     */
    Error fatal(Scheduler s, String before, String message);

    /** An exception came out of the loop of an M: a bug of ours, which ends the process. */
    void broken(Scheduler s, Throwable t);

    /** An exception ended a goroutine; on its stack, after its deferred work. Never throws. */
    void uncaught(GStack st, Throwable t);

    /** On g0: an exception came out of the JDK's own code at the end of a virtual thread. Never throws. */
    void escaped(Throwable t);

    /** What shows the goroutines of the scheduler of that name in the JDK's thread dumps. */
    JdkContainer container(String scheduler, GSlots slots);
}
