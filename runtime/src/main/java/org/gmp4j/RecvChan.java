// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;

import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a channel, which can neither send nor close. Every {@link Chan} is one; a method that only receives takes
 * this. Go's {@code <-chan T}.
 *
 * <p>All methods may be called by goroutines, virtual threads and platform threads. What an interrupt does: it leaves the waits of
 * goroutines and plain threads alone, and ends those of virtual threads of a {@link Gmp} by a {@link WaitInterruptedException};
 * {@link #recvInterruptibly} says it in Java's way on all. In a bubble of {@code Synctest} a wait on a channel of the bubble lets its clock
 * move on; its channels refuse everybody else by an {@link IllegalStateException}.
 *
 * @param <T> the type of its elements; {@code null} is never one
 */
@NullMarked
public sealed interface RecvChan<T> extends Iterable<T> permits Chan {
    /**
     * Receives, waiting for an element; null once closed and drained.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws WaitInterruptedException see the class comment; nothing was received
     */
    @Nullable T recv();

    /**
     * Receives, waiting for an element, and tells whether there was one.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws WaitInterruptedException see the class comment; nothing was received
     */
    Chan.Recv<T> recvOk();

    /** Receives if that needs no waiting; null when it would block or is closed: {@link #tryRecvOk} tells. */
    @Nullable T tryRecv();

    /** Receives if that needs no waiting; null when it would block. */
    Chan.@Nullable Recv<T> tryRecvOk();

    /**
     * Receives, waiting for at most {@code d}; null when the time was up or there is no more: {@link #recvOkWithin} tells.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws WaitInterruptedException see the class comment; nothing was received
     */
    @Nullable T recvWithin(Duration d);

    /**
     * Receives, waiting for at most {@code d}; null when the time was up.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws WaitInterruptedException see the class comment; nothing was received
     */
    Chan.@Nullable Recv<T> recvOkWithin(Duration d);

    /**
     * As {@link #recv}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; nothing was received, and the interrupt
     *     status is cleared
     */
    @Nullable T recvInterruptibly() throws InterruptedException;

    /**
     * As {@link #recvOk}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; nothing was received, and the interrupt
     *     status is cleared
     */
    Chan.Recv<T> recvOkInterruptibly() throws InterruptedException;

    /**
     * As {@link #recv}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; nothing was received
     * @throws WaitInterruptedException see the class comment; nothing was received
     */
    @Nullable T recvUnless(Cancelable ctx);

    /**
     * As {@link #recvOk}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; nothing was received
     * @throws WaitInterruptedException see the class comment; nothing was received
     */
    Chan.Recv<T> recvOkUnless(Cancelable ctx);

    /** How many elements are buffered; 0 for a timer's channel, whose times come when they are received. */
    int len();

    /** How many elements fit the buffer; 0 for a timer's channel. */
    int cap();
}
