// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.Future;

/**
 * The limit of time of a stack's present wait in the JDK, in the place of a task of the JDK's own scheduled executor. {@code VirtualThread}
 * keeps it as its {@code timeoutTask} and calls {@link #cancel} when the thread goes on; it calls nothing else. One serves all waits of a
 * stack, one after the other.
 */
public interface Timeout extends Future<Void> {
    /** The number of a wait that is a park: those of {@code Object.wait} have one byte. */
    int PARK = -1 << 8;

    /**
     * Begins: after {@code nanos} the stack is told that this wait has timed out, unless it is cancelled before. On the stack's host, which
     * has a P.
     *
     * @param wait the number of the wait; {@link #PARK} for a park
     * @throws OutOfMemoryError when there is no memory for it; nothing has changed
     */
    void begin(long nanos, int wait);
}
