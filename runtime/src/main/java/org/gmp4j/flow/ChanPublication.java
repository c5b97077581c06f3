// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.flow;

import java.util.concurrent.Flow;

import org.gmp4j.Chan;
import org.gmp4j.chan.ChanCancellation;
import org.gmp4j.context.Context;
import org.jspecify.annotations.Nullable;

/**
 * One subscription to a {@link ChanPublisher}. Its goroutine receives elements while there is demand. Without demand it only waits for the
 * end of the channel. One thread sends all signals: this goroutine, or the caller of {@link #refuse}.
 */
final class ChanPublication<T> implements Flow.Subscription {
    private final ChanPublisher<T> of;
    private final Flow.Subscriber<? super T> to;
    /** The context of this publication's receives. It is cancelled once {@link #ended} is set. */
    private final Context ctx = Context.background().withCancel();
    // The monitor guards writes of these fields.
    private long demand;
    /** The context of a wait without demand. A request cancels this context. */
    private @Nullable Context idle;
    /** Whether the publication has ended by a cancel, a {@link #failure} or the end of the channel. A cancel is not signalled. */
    private volatile boolean ended;
    private @Nullable Throwable failure;
    private boolean begun;

    ChanPublication(ChanPublisher<T> of, Flow.Subscriber<? super T> to) {
        this.of = of;
        this.to = to;
    }

    /** Delivers elements until the end. This is the body of the goroutine. */
    void serve() {
        synchronized (this) {
            begun = true;
        }
        boolean over = false;
        try {
            deliver();
            over = true;
        } catch (RuntimeException e) { // The subscriber threw it, or an interrupt or ctx ended the wait.
            fail(e);
            over = true;
        } finally {
            of.left(to, this);
            if (!over) { // An error or goexit ends the goroutine.
                cancel();
            }
        }
        if (end(null)) {
            to.onComplete();
        } else if (failure != null) {
            to.onError(failure);
        }
    }

    private void deliver() {
        to.onSubscribe(this);
        while (awaitDemand()) {
            Chan.Recv<T> r = of.c.recvOkUnless(ctx);
            if (!r.ok()) {
                return;
            }
            to.onNext(r.value());
        }
    }

    /**
     * Fails the subscription on the calling thread, because the executor has thrown {@code why}. If serve has begun nevertheless, returns
     * false.
     */
    boolean refuse(RuntimeException why) {
        synchronized (this) {
            if (begun) {
                return false;
            }
        }
        fail(why);
        serve();
        return true;
    }

    /** Waits for demand and takes one unit of it. Returns false when this publication has ended, or the channel is closed and drained. */
    private boolean awaitDemand() {
        while (!ended && !take(null)) {
            try (Context asked = ctx.withCancel()) {
                if (take(asked)) {
                    break;
                }
                if (ChanCancellation.drained(of.c, asked)) {
                    return false;
                }
            }
        }
        return !ended;
    }

    /** Takes one unit of the demand. Returns false if there is no demand; then the next request cancels {@code otherwise}. */
    private synchronized boolean take(@Nullable Context otherwise) {
        boolean any = demand > 0;
        if (any && demand != Long.MAX_VALUE) {
            demand--;
        }
        idle = any ? null : otherwise;
        return any;
    }

    @Override
    public void request(long n) {
        if (n < 1) {
            fail(new IllegalArgumentException("non-positive subscription request " + n + ": use 1 or more"));
            return;
        }
        Context waits;
        synchronized (this) {
            demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
            waits = idle;
            idle = null;
        }
        if (waits != null) {
            waits.cancel();
        }
    }

    /** Ends the publication. The subscriber gets {@code why} as its last signal, after the element that is being delivered. */
    void fail(RuntimeException why) {
        boolean _ = end(why);
    }

    @Override
    public void cancel() {
        boolean _ = end(null);
    }

    /** Ends the publication. Returns false when it had ended before. */
    private boolean end(@Nullable Throwable why) {
        synchronized (this) {
            if (ended) {
                return false;
            }
            failure = why;
            ended = true;
        }
        ctx.cancel();
        return true;
    }
}
