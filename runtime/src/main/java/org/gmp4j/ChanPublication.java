// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;

import org.gmp4j.context.Context;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber of {@link Chans#publisher}: a goroutine that receives while there is demand. A channel of capacity
 * 1 is the bell that announces demand; how much there is stands beside it, under the monitor.
 */
final class ChanPublication<T> implements Flow.Subscription {
    private final RecvChan<T> c;
    private final Flow.Subscriber<? super T> to;
    private final Chan<Boolean> bell = Chan.make(1);
    // With the monitor.
    private long demand;
    private @Nullable IllegalArgumentException misuse;
    /** Of the goroutine that serves; cancelled by {@link #cancel}. */
    private final Context ctx = Context.background().withCancel();

    private ChanPublication(RecvChan<T> c, Flow.Subscriber<? super T> to) {
        this.c = c;
        this.to = to;
    }

    static <T> void begin(Executor on, RecvChan<T> c, Flow.Subscriber<? super T> to) {
        ChanPublication<T> p = new ChanPublication<>(c, Objects.requireNonNull(to, "subscriber"));
        on.execute(p::serve);
    }

    private void serve() {
        try {
            to.onSubscribe(this);
            while (awaitDemand()) {
                Chan.Recv<T> r = c.recvOkUnless(ctx);
                if (!r.ok()) {
                    to.onComplete();
                    return;
                }
                to.onNext(r.value());
            }
        } catch (RuntimeException e) {
            if (e != ctx.err()) {
                to.onError(e);
            }
        }
    }

    /** Takes one; false when it was cancelled. */
    private boolean awaitDemand() {
        for (;;) {
            if (ctx.err() != null) {
                return false;
            }
            synchronized (this) {
                if (misuse != null) {
                    throw misuse;
                }
                if (demand > 0) {
                    demand -= demand == Long.MAX_VALUE ? 0 : 1;
                    return true;
                }
            }
            Object _ = bell.recvUnless(ctx);
        }
    }

    @Override
    public void request(long n) {
        synchronized (this) {
            if (n < 1) {
                misuse = new IllegalArgumentException("request of " + n + " elements: use 1 or more");
            } else {
                demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
            }
        }
        boolean _ = bell.trySend(true); // A bell that has been rung already tells of both.
    }

    @Override
    public void cancel() {
        ctx.cancel();
    }
}
