// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.flow;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;

import org.gmp4j.Chan;
import org.gmp4j.RecvChan;

/** A channel as a {@link Flow.Publisher}: see {@code Chans.publisher}. */
public final class ChanPublisher<T> implements Flow.Publisher<T> {
    final Chan<T> c;
    private final Executor on;
    /** The active publication of each subscriber. */
    private final Map<Flow.Subscriber<? super T>, ChanPublication<T>> active = Collections.synchronizedMap(new IdentityHashMap<>());

    /** Makes a publisher whose goroutines {@code on} starts. */
    public ChanPublisher(Executor on, RecvChan<T> c) {
        this.on = Objects.requireNonNull(on, "on");
        this.c = (Chan<T>) Objects.requireNonNull(c, "c");
    }

    @Override
    public void subscribe(Flow.Subscriber<? super T> to) {
        ChanPublication<T> p = new ChanPublication<>(this, Objects.requireNonNull(to, "subscriber"));
        ChanPublication<T> before = active.putIfAbsent(to, p);
        if (before != null) { // The earlier publication's goroutine sends the error, because signals must not overlap.
            before.fail(new IllegalStateException("the subscriber is subscribed already"));
            return;
        }
        boolean served = false;
        try {
            on.execute(p::serve);
            served = true;
        } catch (RuntimeException e) { // By the rules of Flow the error goes to the subscriber, not the caller.
            served = p.refuse(e);
            if (!served) {
                throw e;
            }
        } finally {
            if (!served) {
                left(to, p);
            }
        }
    }

    void left(Flow.Subscriber<? super T> to, ChanPublication<T> p) {
        boolean _ = active.remove(to, p);
    }
}
