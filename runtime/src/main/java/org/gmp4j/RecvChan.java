// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a channel, which can neither send nor close (Go's {@code <-chan T}). Every {@link Chan} is one. Use it
 * for parameters of methods that only receive. Thread-safe.
 *
 * <p>Goroutines, virtual threads and platform threads may call all methods. An interrupt does not end a wait of a goroutine of {@link
 * Go#go}, of a platform thread, or of a virtual thread of the JDK's own scheduler. It ends a wait of a virtual thread of a {@link Gmp} by a
 * {@link WaitInterruptedException}. On any thread an interrupt ends a method named {@code …Interruptibly}, which then
 * throws an {@link InterruptedException}. In a bubble of {@code Synctest} the clock moves on during a wait on a channel of the bubble. Such
 * a channel throws an {@link IllegalStateException} when a caller outside of the bubble uses it.
 *
 * @param <T> the type of the elements, which are never {@code null}
 */
public sealed interface RecvChan<T> extends Iterable<T> permits Chan {
    /**
     * Waits for an element and returns it, or returns null when the channel is closed and drained.
     *
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     received
     */
    @Nullable T recv();

    /**
     * Waits for an element and returns it in a {@code Recv}, which also says whether there was one. There is none when the channel is
     * closed and drained.
     *
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     received
     */
    Chan.Recv<T> recvOk();

    /**
     * Receives an element if that needs no wait. Returns null when it would have to wait, or the channel is closed and drained.
     * {@link #tryRecvOk} distinguishes the two cases.
     */
    @Nullable T tryRecv();

    /**
     * Receives if that needs no wait. Returns the element, and whether there was one, in a {@code Recv}. Returns null when it would have to
     * wait.
     */
    Chan.@Nullable Recv<T> tryRecvOk();

    /**
     * Waits for an element for at most {@code d} and returns it. Returns null when the time was up, or the channel is closed and drained.
     * {@link #recvOkWithin} distinguishes the two cases.
     *
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     received
     */
    @Nullable T recvWithin(Duration d);

    /**
     * Waits for an element for at most {@code d} and returns it in a {@code Recv}, which also says whether there was one. There is none
     * when the channel is closed and drained. Returns null when the time was up.
     *
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     received
     */
    Chan.@Nullable Recv<T> recvOkWithin(Duration d);

    /**
     * Like {@link #recv}, this waits for an element, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; nothing was received, and the
     *     interrupt status is cleared
     */
    @Nullable T recvInterruptibly() throws InterruptedException;

    /**
     * Like {@link #recvOk}, this waits for an element, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; nothing was received, and the
     *     interrupt status is cleared
     */
    Chan.Recv<T> recvOkInterruptibly() throws InterruptedException;

    /**
     * Like {@link #recv}, this waits for an element, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; nothing was received
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     received
     */
    @Nullable T recvUnless(Cancelable ctx);

    /**
     * Like {@link #recvOk}, this waits for an element, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; nothing was received
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     received
     */
    Chan.Recv<T> recvOkUnless(Cancelable ctx);

    /** Returns how many elements are in the buffer; 0 for a timer's channel, because only a receive checks whether the timer is due. */
    int len();

    /** Returns the capacity of the buffer in elements; 0 for a timer's channel. */
    int cap();
}
