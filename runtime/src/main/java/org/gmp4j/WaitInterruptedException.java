// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

/**
 * Thrown when an interrupt has ended a wait of a virtual thread that a {@link Gmp} runs, or when the cancel of a {@link Task} has ended a
 * wait of the task. A virtual thread of a {@code Gmp} comes from its thread factory, from its executor, or from a {@code
 * StructuredTaskScope} with its thread factory. With {@link Gmp#makeDefault} it may be any virtual thread. The wait had no effect: nothing
 * was sent, received or taken. The thread's interrupt status stays set, so that its next wait ends as well, until {@link
 * Thread#interrupted} clears it.
 *
 * <p>Goroutines of {@code go}, platform threads and virtual threads of the JDK's own scheduler never get this exception, because an
 * interrupt does not end their waits. Forms named {@code …Interruptibly} throw {@link InterruptedException} on threads of all kinds
 * instead. An interrupt does not end a wait for a lock, except in those forms, as with {@code java.util.concurrent.locks.Lock}. The rules
 * are the same in a bubble of {@code Synctest}. Sockets of {@code org.gmp4j.net} throw an {@link java.io.InterruptedIOException} in place
 * of this exception.
 */
public final class WaitInterruptedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Makes an exception for a wait that an interrupt has ended. */
    public WaitInterruptedException() {
        super("a wait was ended by an interrupt");
    }
}
