// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.AbstractQueue;
import java.util.Collection;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/** A channel as a {@link BlockingQueue}: see {@link Chans#queue}. */
final class ChanQueue<T> extends AbstractQueue<T> implements BlockingQueue<T> {
    private final Chan<T> c;

    ChanQueue(Chan<T> c) {
        this.c = Objects.requireNonNull(c, "c");
    }

    /** Returns the limit as a duration; 292 years for more. */
    private static Duration of(long timeout, TimeUnit unit) {
        return Duration.ofNanos(unit.toNanos(timeout));
    }

    @Override
    public void put(T v) throws InterruptedException {
        c.sendInterruptibly(v);
    }

    @Override
    public boolean offer(T v) {
        return c.trySend(v);
    }

    @Override
    public boolean offer(T v, long timeout, TimeUnit unit) throws InterruptedException {
        return c.sendWithinInterruptibly(v, of(timeout, unit));
    }

    @Override
    public @Nullable T take() throws InterruptedException {
        Chan.Recv<T> r = c.recvOkInterruptibly();
        if (!r.ok()) {
            throw new IllegalStateException("take from closed channel");
        }
        return r.value();
    }

    @Override
    public @Nullable T poll() {
        return c.tryRecv();
    }

    @Override
    public @Nullable T poll(long timeout, TimeUnit unit) throws InterruptedException {
        Chan.Recv<T> r = c.recvOkWithinInterruptibly(of(timeout, unit));
        return r == null ? null : r.value();
    }

    @Override
    public int size() {
        return c.len();
    }

    @Override
    public int remainingCapacity() {
        return Math.max(0, c.cap() - c.len());
    }

    @Override
    public int drainTo(Collection<? super T> to) {
        return drainTo(to, Integer.MAX_VALUE);
    }

    @Override
    public int drainTo(Collection<? super T> to, int most) {
        if (to == this) {
            throw new IllegalArgumentException("a queue is drained to itself");
        }
        Objects.requireNonNull(to, "to");
        int n = 0;
        for (T v; n < most && (v = c.tryRecv()) != null; n++) {
            to.add(v);
        }
        return n;
    }

    @Override
    public T peek() {
        throw new UnsupportedOperationException("a channel shows nothing that is not received");
    }

    @Override
    public Iterator<T> iterator() {
        throw new UnsupportedOperationException("a channel shows nothing that is not received: iterate over the channel itself");
    }
}
