// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Flow;

import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * What comes from a {@link Flow.Publisher}: see {@link Chans#subscribe}. One goroutine or thread receives at a time; closing it is
 * thread-safe. A receive is one from a {@link Chan}: on threads of all kinds, at interrupts and in a bubble.
 *
 * @param <T> the type of its elements
 */
@NullMarked
public final class ChanSubscription<T> implements Iterable<T>, AutoCloseable {
    private final Chan<T> c;
    private final int capacity;
    private volatile Flow.@Nullable Subscription subscription;
    private volatile @Nullable Throwable error;
    /** Received since the last request; written by the receiver. */
    private int taken;
    // With the monitor.
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
                    if (over || c.trySend(v)) { // If over it was on its way when the subscription was closed.
                        return;
                    }
                }
                // There is room for all that was asked for. By the rules of flows a subscriber throws nothing here.
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
     * The next element, waiting for it as {@link RecvChan#recv}; null when the publisher has completed, or this was closed.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##waits the package}.
     *
     * @throws IllegalStateException when the publisher has failed, with its error as the cause, after all elements before
     */
    public @Nullable T recv() {
        return received(c.recv());
    }

    /** As {@link #recv}, until {@code ctx} is cancelled; then it throws {@code ctx.err()}. */
    public @Nullable T recvUnless(Cancelable ctx) {
        return received(c.recvUnless(ctx));
    }

    /**
     * As {@link #recv}, until an interrupt of the calling thread ends it; on threads of all kinds.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     */
    public @Nullable T recvInterruptibly() throws InterruptedException {
        return received(c.recvInterruptibly());
    }

    /**
     * As {@link #recv}, for {@code d} at most; zero or less only looks.
     *
     * @return null also when the time was up
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
        if (++taken >= (capacity + 1) / 2) { // Half the room at a time, so that the publisher need not stop.
            int n = taken;
            taken = 0;
            Flow.Subscription s = subscription;
            if (s != null) { // A publisher that sends before it says what it is gets no more.
                s.request(n);
            }
        }
        return v;
    }

    /** What the publisher has failed with; null when it has not. */
    public @Nullable Throwable error() {
        return error;
    }

    /** Cancels the subscription. What is buffered can still be received. */
    @Override
    public void close() {
        Flow.Subscription s = subscription;
        end(null);
        if (s != null) {
            s.cancel();
        }
    }

    /** Receives until the publisher has completed. */
    @Override
    public Iterator<T> iterator() {
        return new Received<>() {
            @Override
            @Nullable T receive() {
                return recv();
            }
        };
    }
}
