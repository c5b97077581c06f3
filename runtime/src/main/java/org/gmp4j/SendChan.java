// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;

import org.jspecify.annotations.NullMarked;

/**
 * The sending end of a channel, which sends and closes. Every {@link Chan} is one; a method that only sends takes this. Go's
 * {@code chan<- T}.
 *
 * <p>All methods may be called by goroutines, virtual threads and platform threads. What an interrupt does: it leaves the waits of
 * goroutines and plain threads alone, and ends those of virtual threads of a {@link Gmp} by a {@link WaitInterruptedException};
 * {@link #sendInterruptibly} says it in Java's way on all. In a bubble of {@code Synctest} a wait on a channel of the bubble lets its clock
 * move on; its channels refuse everybody else by an {@link IllegalStateException}.
 *
 * @param <T> the type of its elements; {@code null} is never one
 */
@NullMarked
public sealed interface SendChan<T> extends AutoCloseable permits Chan {
    /**
     * Sends, waiting for room or for a receiver.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws NullPointerException when {@code v} is null
     * @throws ChanClosedException "send on closed channel", also when it is closed while this waits
     * @throws WaitInterruptedException see the class comment; nothing was sent
     */
    void send(T v);

    /**
     * Sends if that needs no waiting.
     *
     * @return false when it would block
     * @throws NullPointerException when {@code v} is null
     * @throws ChanClosedException "send on closed channel"
     */
    boolean trySend(T v);

    /**
     * Sends, waiting for room or for a receiver for at most {@code d}; zero or less is {@link #trySend}.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @return false when the time was up: {@code v} was not and will not be received
     * @throws NullPointerException when {@code v} is null
     * @throws ChanClosedException "send on closed channel", also when it is closed while this waits
     * @throws WaitInterruptedException see the class comment; nothing was sent
     */
    boolean sendWithin(T v, Duration d);

    /**
     * As {@link #send}, until an interrupt of the calling thread ends it.
     *
     * @throws InterruptedException when it was interrupted before or while this waits: {@code v} was not and will not be
     *     received; the interrupt status is cleared
     * @throws NullPointerException when {@code v} is null
     * @throws ChanClosedException "send on closed channel", also when it is closed while this waits
     */
    void sendInterruptibly(T v) throws InterruptedException;

    /**
     * As {@link #send}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits: {@code v} was not and will not be
     *     received
     * @throws NullPointerException when {@code v} or {@code ctx} is null
     * @throws ChanClosedException "send on closed channel", also when it is closed while this waits
     * @throws WaitInterruptedException see the class comment; nothing was sent
     */
    void sendUnless(Cancelable ctx, T v);

    /**
     * Closes the channel: receivers get what is buffered and then nothing, waiting senders fail.
     *
     * @throws ChanClosedException "close of closed channel"
     * @throws IllegalStateException "close of receive-only channel" for that of a timer or a context
     */
    @Override
    void close();

    /** How many elements are buffered; 0 for a timer's channel, whose times come when they are received. */
    int len();

    /** How many elements fit the buffer; 0 for a timer's channel. */
    int cap();
}
