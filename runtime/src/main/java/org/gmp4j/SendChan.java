// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;

/**
 * The sending end of a channel, which sends and closes (Go's {@code chan<- T}). Every {@link Chan} is one. Use it for parameters of methods
 * that only send. Thread-safe.
 *
 * <p>Goroutines, virtual threads and platform threads may call all methods. An interrupt does not end a wait of a goroutine of {@link
 * Go#go}, of a platform thread, or of a virtual thread of the JDK's own scheduler. It ends a wait of a virtual thread of a {@link Gmp} by a
 * {@link WaitInterruptedException}. On any thread an interrupt ends {@link #sendInterruptibly}, which then throws an {@link
 * InterruptedException}. In a bubble of {@code Synctest} the clock moves on during a wait on a channel of the bubble. Such a channel throws
 * an {@link IllegalStateException} when a caller outside of the bubble uses it.
 *
 * @param <T> the type of the elements, which are never {@code null}
 */
public sealed interface SendChan<T> extends AutoCloseable permits Chan {
    /**
     * Sends {@code v}, and waits for room in the buffer or for a receiver.
     *
     * @throws NullPointerException when {@code v} is null
     * @throws ChanClosedException "send on closed channel", also when the channel is closed while this waits
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     sent
     */
    void send(T v);

    /**
     * Sends {@code v} if that needs no wait.
     *
     * @return false when the send would have to wait
     * @throws NullPointerException when {@code v} is null
     * @throws ChanClosedException "send on closed channel"
     */
    boolean trySend(T v);

    /**
     * Sends {@code v}, and waits for room in the buffer or for a receiver for at most {@code d}. If {@code d} is zero or less, it does not
     * wait, like {@link #trySend}.
     *
     * @return false when the time was up: {@code v} was not and will not be received
     * @throws NullPointerException when {@code v} is null
     * @throws ChanClosedException "send on closed channel", also when the channel is closed while this waits
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     sent
     */
    boolean sendWithin(T v, Duration d);

    /**
     * Like {@link #send}, this sends {@code v} and waits, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits: {@code v} was not and will not be
     *     received; the interrupt status is cleared
     * @throws NullPointerException when {@code v} is null
     * @throws ChanClosedException "send on closed channel", also when the channel is closed while this waits
     */
    void sendInterruptibly(T v) throws InterruptedException;

    /**
     * Like {@link #send}, this sends {@code v} and waits, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits: {@code v} was not and will not
     *     be received
     * @throws NullPointerException when {@code v} or {@code ctx} is null
     * @throws ChanClosedException "send on closed channel", also when the channel is closed while this waits
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits; nothing was
     *     sent
     */
    void sendUnless(Cancelable ctx, T v);

    /**
     * Closes the channel. Receivers get the elements in the buffer, and after that find the channel closed. Waiting senders get a
     * {@link ChanClosedException}.
     *
     * @throws ChanClosedException "close of closed channel"
     * @throws IllegalStateException "close of receive-only channel" for the channel of a timer or a context
     */
    @Override
    void close();

    /** Returns the number of buffered elements; 0 for a timer's channel, because only a receive checks whether the timer is due. */
    int len();

    /** Returns the capacity of the buffer in elements; 0 for a timer's channel. */
    int cap();
}
