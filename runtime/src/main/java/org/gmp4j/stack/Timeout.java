// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.Future;

/**
 * The timer for a stack's present wait in the JDK. It replaces a task of the JDK's own scheduled executor. {@code VirtualThread} keeps it
 * as its {@code timeoutTask}, and calls {@link #cancel} when the thread goes on, and no other method. One timer serves all waits of a
 * stack, one after the other.
 */
public interface Timeout extends Future<Void> {
    /** The number of a wait that is a park. The numbers of waits in {@code Object.wait} have one byte, so none is equal to it. */
    int PARK = -1 << 8;

    /**
     * Starts the timer: it ends this wait of the stack after {@code nanos} ns, unless it is cancelled before. Called on the stack's host,
     * which has a P.
     *
     * @param wait the number of the wait; {@link #PARK} for a park
     * @throws OutOfMemoryError when there is no memory for the timer; nothing has changed
     */
    void begin(long nanos, int wait);
}
