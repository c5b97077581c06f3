// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.util.concurrent.Future;

/**
 * The timer that ends a timed wait of a stack in the JDK. It replaces a task of the JDK's own scheduled executor. {@code VirtualThread}
 * stores it as its {@code timeoutTask}, and calls only {@link #cancel}, after the wait. One timer serves all waits of a stack, one after
 * the other.
 */
public interface Timeout extends Future<Void> {
    /** The number of a park. No wait in {@code Object.wait} has this number, because the JDK numbers those waits by one byte. */
    int PARK = -1 << 8;

    /**
     * Starts the timer, which ends the wait after {@code nanos} ns unless it is cancelled before. Called on the M that runs the stack,
     * which has a P.
     *
     * @param wait the number of the wait; {@link #PARK} for a park
     * @throws OutOfMemoryError when there is no memory for the timer; nothing has changed
     */
    void begin(long nanos, int wait);
}
