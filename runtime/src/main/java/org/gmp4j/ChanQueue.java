// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.AbstractQueue;
import java.util.Collection;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/** A channel as a {@link BlockingQueue}: see {@link Chans#queue}. */
final class ChanQueue<T> extends AbstractQueue<T> implements BlockingQueue<T> {
    private final Chan<T> c;

    ChanQueue(Chan<T> c) {
        this.c = Objects.requireNonNull(c, "c");
    }

    /** Returns a time limit as a duration. Limits above 292 years, which a long of nanoseconds cannot hold, become 292 years. */
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
        Objects.requireNonNull(to, "to");
        if (to == this || to instanceof ChanQueue<?> q && q.c == c) {
            throw new IllegalArgumentException("a queue is drained to itself");
        }
        int n = 0;
        for (T v; n < most && (v = c.tryRecv()) != null; n++) {
            boolean _ = to.add(v);
        }
        return n;
    }

    @Override
    public @Nullable T peek() {
        return c.first();
    }

    @Override
    public boolean remove(@Nullable Object o) {
        for (Object v : c.elements()) {
            if (v != null && v.equals(o) && c.receive(v, 0)) { // The call returns false if another receiver has taken the element.
                return true;
            }
        }
        return false;
    }

    @Override
    public Iterator<T> iterator() {
        return new Elements<>(c);
    }

    @Override
    public Spliterator<T> spliterator() {
        return Spliterators.spliteratorUnknownSize(iterator(), Spliterator.ORDERED | Spliterator.NONNULL | Spliterator.CONCURRENT);
    }

    /** Iterates over the elements that were buffered when the iterator was made. Not thread-safe. */
    private static final class Elements<T> implements Iterator<T> {
        private final Chan<T> c;
        /** The elements. {@link #remove} sets an element to null. */
        private final @Nullable Object[] all;
        private int next;

        Elements(Chan<T> c) {
            this.c = c;
            all = c.elements();
        }

        @Override
        public boolean hasNext() {
            return next < all.length;
        }

        @Override
        @SuppressWarnings({"unchecked", "NullAway"}) // Only elements that next has already returned become null.
        public T next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return (T) all[next++];
        }

        @Override
        public void remove() {
            Object v = next == 0 ? null : all[next - 1];
            if (v == null) {
                throw new IllegalStateException("remove without next, or a second time");
            }
            int skip = 0; // The receive skips earlier occurrences of the element.
            for (int i = 0; i < next - 1; i++) {
                skip += all[i] == v ? 1 : 0;
            }
            all[next - 1] = null;
            boolean _ = c.receive(v, skip); // Another receiver may have taken the element.
        }
    }
}
