// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Flow;

import org.gmp4j.chan.Received;
import org.jspecify.annotations.Nullable;

/**
 * A subscription from which a program receives the elements of a {@link Flow.Publisher}: see {@link Chans#subscribe}. Only one goroutine
 * or thread may receive at a time. Any thread may call {@link #close} and {@link #error}. A receive obeys the rules of a receive from a
 * {@link Chan} for kinds of threads, interrupts and bubbles.
 *
 * @param <T> the type of its elements
 */
public final class ChanSubscription<T> implements Iterable<T>, AutoCloseable {
    private final Chan<T> c;
    private final int capacity;
    private volatile Flow.@Nullable Subscription subscription;
    private volatile @Nullable Throwable error;
    /** The number of elements received since the last request. Used by the receiver only. */
    private int taken;
    /** Whether the publisher has ended, or this was closed. Guarded by the monitor. */
    private boolean over;

    ChanSubscription(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("subscribe with room for " + capacity + " elements: use 1 or more");
        }
        this.capacity = capacity;
        c = Chan.make(capacity);
    }

    Flow.Subscriber<T> subscriber() {
        return new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription s) {
                Objects.requireNonNull(s, "subscription");
                boolean refused;
                synchronized (ChanSubscription.this) {
                    refused = subscription != null || over;
                    if (!refused) {
                        subscription = s;
                    }
                }
                if (refused) {
                    s.cancel();
                } else {
                    s.request(capacity);
                }
            }

            @Override
            public void onNext(T v) {
                Objects.requireNonNull(v, "element");
                synchronized (ChanSubscription.this) {
                    if (over || c.trySend(v)) { // Elements that arrive after the end are dropped.
                        return;
                    }
                }
                // There is no room: the publisher sent more than was requested. The rules of flows forbid this method to throw.
                Flow.Subscription s = subscription;
                if (s != null) {
                    s.cancel();
                }
                end(new IllegalStateException("the publisher sent more than was asked for"));
            }

            @Override
            public void onError(Throwable t) {
                end(Objects.requireNonNull(t, "error"));
            }

            @Override
            public void onComplete() {
                end(null);
            }
        };
    }

    private void end(@Nullable Throwable t) {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            error = t;
        }
        c.close();
    }

    /**
     * Waits for the next element and returns it. Returns null when the publisher has completed, or this was closed, and no element is left.
     *
     * @throws IllegalStateException when the publisher has failed and no element is left; the cause is its error
     */
    public @Nullable T recv() {
        return received(c.recv());
    }

    /**
     * Like {@link #recv}, this waits for the next element, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; nothing was received
     */
    public @Nullable T recvUnless(Cancelable ctx) {
        return received(c.recvUnless(ctx));
    }

    /**
     * Like {@link #recv}, this waits for the next element, but an interrupt ends the wait, on every kind of thread.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; nothing was received, and the
     *     interrupt status is cleared
     */
    public @Nullable T recvInterruptibly() throws InterruptedException {
        return received(c.recvInterruptibly());
    }

    /**
     * Like {@link #recv}, this waits for the next element, but for {@code d} at most. If {@code d} is zero or less, it does not wait.
     *
     * @return the element; null also when the time was up
     */
    public @Nullable T recvWithin(Duration d) {
        Chan.Recv<T> r = c.recvOkWithin(d);
        return r == null ? null : received(r.value());
    }

    private @Nullable T received(@Nullable T v) {
        if (v == null) {
            Throwable t = error;
            if (t != null) {
                throw new IllegalStateException("the publisher has failed", t);
            }
            return null;
        }
        if (++taken >= (capacity + 1) / 2) { // Each request is for half the buffer, so that the publisher need not stop.
            int n = taken;
            taken = 0;
            Flow.Subscription s = subscription;
            if (s != null) { // It is null only for a publisher that sends before it calls onSubscribe.
                s.request(n);
            }
        }
        return v;
    }

    /** Returns the error of a publisher that has failed, or null. */
    public @Nullable Throwable error() {
        return error;
    }

    /** Cancels the subscription. Elements in the buffer can still be received. */
    @Override
    public void close() {
        end(null);
        Flow.Subscription s = subscription; // Read after end(null): from then on onSubscribe sets no subscription.
        if (s != null) {
            s.cancel();
        }
    }

    /**
     * Returns an iterator that receives until the publisher has completed, or this is closed. Its methods throw the exceptions of {@link
     * #recv}.
     */
    @Override
    public Iterator<T> iterator() {
        return new Received<>() {
            @Override
            protected @Nullable T receive() {
                return recv();
            }
        };
    }
}
