// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.NullMarked;

/**
 * Bridges from channels to the JDK's types, and ways to join and split channels. Thread-safe. All methods may be called by goroutines,
 * virtual threads and platform threads. None of them waits, so interrupts do nothing to them. Background work is done in goroutines
 * that {@code on} starts: a {@link Gmp}, or in a goroutine {@code Go::go}, and then they belong to its bubble of {@code Synctest}. A
 * cancelled {@code ctx} ends them; what they hold at that moment is lost.
 */
@NullMarked
public final class Chans {
    private Chans() {
    }

    /**
     * One channel with what comes from any of {@code in}. It is closed when all of them are closed and drained, or {@code ctx} is
     * cancelled. The elements of each channel keep their order.
     */
    public static <T> RecvChan<T> merge(Executor on, Cancelable ctx, List<? extends RecvChan<? extends T>> in) {
        Chan<T> out = Chan.make();
        AtomicInteger open = new AtomicInteger(in.size());
        if (in.isEmpty()) {
            out.close();
        }
        for (RecvChan<? extends T> c : in) {
            on.execute(() -> {
                try {
                    each(c, ctx, v -> out.sendUnless(ctx, v));
                } finally {
                    if (open.decrementAndGet() == 0) {
                        out.close();
                    }
                }
            });
        }
        return out;
    }

    /**
     * All that comes from {@code in}, in each of {@code n} channels with room for {@code capacity}; the slowest of their receivers sets the
     * pace. They are closed when {@code in} is closed and drained, or {@code ctx} is cancelled. (To share elements out among
     * receivers nothing is needed: they receive from one channel.)
     *
     * @throws IllegalArgumentException when {@code n} is less than 1 or {@code capacity} negative
     */
    public static <T> List<RecvChan<T>> broadcast(Executor on, Cancelable ctx, RecvChan<T> in, int n, int capacity) {
        if (n < 1) {
            throw new IllegalArgumentException("broadcast to " + n + " channels: use 1 or more");
        }
        List<Chan<T>> out = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            out.add(Chan.make(capacity));
        }
        on.execute(() -> {
            try {
                each(in, ctx, v -> {
                    for (Chan<T> c : out) {
                        c.sendUnless(ctx, v);
                    }
                });
            } finally {
                out.forEach(Chan::close);
            }
        });
        return List.copyOf(out);
    }

    /** Until it is closed and drained, or ctx cancelled. */
    private static <T> void each(RecvChan<T> in, Cancelable ctx, Consumer<? super T> then) {
        try {
            for (Chan.Recv<T> r = in.recvOkUnless(ctx); r.ok(); r = in.recvOkUnless(ctx)) {
                then.accept(r.value());
            }
        } catch (RuntimeException e) {
            if (e != ctx.err()) {
                throw e;
            }
        }
    }

    /** A sequential stream of what is received, until the channel is closed and drained; it waits as {@link RecvChan#recv} does. */
    public static <T> Stream<T> stream(RecvChan<T> c) {
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(c.iterator(), Spliterator.ORDERED | Spliterator.NONNULL), false);
    }

    /**
     * A view of the channel as a queue: {@code put} and {@code take} are a send and a receive that interrupts end on all threads,
     * {@code offer} and {@code poll} tries and waits with a limit. Once it is closed and drained {@code poll} gives null, and
     * {@code take} throws an {@link IllegalStateException}; {@code put} and {@code offer} throw {@link ChanClosedException}. The size,
     * {@code peek}, {@code contains}, {@code remove(Object)} and the iterator are about the elements in the buffer, without those of
     * waiting senders; the iterator and the stream have those that were there when they were made. {@code remove} of an element is a
     * receive of it, and takes time for the size of the buffer.
     */
    public static <T> BlockingQueue<T> queue(Chan<T> c) {
        return new ChanQueue<>(c);
    }

    /**
     * A publisher of what comes from the channel. Each element goes to one of its subscribers, as with several receivers; each is served
     * by a goroutine of its own, which receives when there is demand. It completes when the channel is closed and drained, whether there
     * is demand or not. A subscriber that throws an exception is told of it by {@code onError}; one that asks for less than 1 element is
     * told of an {@link IllegalArgumentException}, one that subscribes while it is subscribed of an {@link IllegalStateException}, and
     * where {@code on} refuses the goroutine of what {@code on} threw.
     */
    public static <T> Flow.Publisher<T> publisher(Executor on, RecvChan<T> c) {
        return new ChanPublisher<>(on, c);
    }

    /**
     * Subscribes to {@code from}, asking for {@code capacity} elements at a time; a slow receiver slows the publisher down. The channel is
     * closed when the publisher completes or fails, or when this is closed.
     *
     * @throws IllegalArgumentException when {@code capacity} is less than 1
     */
    public static <T> ChanSubscription<T> subscribe(Flow.Publisher<? extends T> from, int capacity) {
        ChanSubscription<T> s = new ChanSubscription<>(capacity);
        from.subscribe(s.subscriber());
        return s;
    }
}
