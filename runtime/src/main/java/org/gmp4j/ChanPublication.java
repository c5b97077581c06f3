// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.concurrent.Flow;

import org.gmp4j.context.Context;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber of {@link ChanPublisher}: a goroutine that receives while there is demand, and without demand waits for the end of the
 * channel, which takes no element. All signals come from that goroutine, one after the other.
 */
final class ChanPublication<T> implements Flow.Subscription {
    private final ChanPublisher<T> of;
    private final Flow.Subscriber<? super T> to;
    /** The receives of this publication run under it. It is cancelled once {@link #ended} is set. */
    private final Context ctx = Context.background().withCancel();
    // Written with the monitor.
    private long demand;
    /** A wait without demand runs under it. A request cancels it. */
    private @Nullable Context idle;
    /** The subscriber is told nothing any more but {@link #failure}. */
    private volatile boolean ended;
    private @Nullable Throwable failure;
    private boolean begun;

    ChanPublication(ChanPublisher<T> of, Flow.Subscriber<? super T> to) {
        this.of = of;
        this.to = to;
    }

    /** Runs in the goroutine. */
    void serve() {
        synchronized (this) {
            begun = true;
        }
        boolean over = false;
        try {
            deliver();
            over = true;
        } catch (RuntimeException e) { // The subscriber's, or an interrupt of the thread; the context's only when this has ended.
            fail(e);
            over = true;
        } finally {
            of.left(to, this);
            if (!over) { // By an error, or goexit.
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

    /** For a goroutine that cannot be started: tells the subscriber on the calling thread. False when it runs already. */
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

    /** Waits for demand and takes one of it; false when this has ended, or the channel is closed and drained. */
    private boolean awaitDemand() {
        while (!ended && !take(null)) {
            try (Context asked = ctx.withCancel()) {
                if (take(asked)) {
                    break;
                }
                if (of.c.drainedUnless(asked)) {
                    return false;
                }
            }
        }
        return !ended;
    }

    /** Takes one of the demand; where there is none the next request cancels {@code otherwise}. */
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

    /** Has the subscriber told of {@code why}, after the element that it is being told of, and then nothing more. */
    void fail(RuntimeException why) {
        boolean _ = end(why);
    }

    @Override
    public void cancel() {
        boolean _ = end(null);
    }

    /** Ends it; false when it has ended before. */
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
