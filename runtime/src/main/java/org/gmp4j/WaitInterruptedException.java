// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

/**
 * An interrupt has ended a wait of a virtual thread with an identity that a {@link Gmp} runs: one of its thread factory, its executor,
 * or a {@code StructuredTaskScope} over it, and with {@link Gmp#makeDefault} any virtual thread; or of a {@link Task} that is
 * cancelled. What was waited for has not happened: nothing was sent, received or taken. The thread's interrupt status stays set,
 * so the next wait of this kind ends as well; {@link Thread#interrupted} clears it.
 *
 * <p>Goroutines of {@code go}, platform threads and virtual threads of the JDK's own scheduler never get it: their waits leave interrupts
 * alone. Forms named
 * {@code …Interruptibly} throw {@link InterruptedException} on threads of all kinds instead. Locks leave interrupts alone but for
 * those forms, as {@code java.util.concurrent.locks.Lock} does. In a bubble of {@code Synctest} it is the same. Sockets of
 * {@code org.gmp4j.net} throw an {@link java.io.InterruptedIOException} in its place.
 */
public final class WaitInterruptedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Of a wait that an interrupt has ended. */
    public WaitInterruptedException() {
        super("a wait was ended by an interrupt");
    }
}
