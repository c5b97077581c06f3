// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.ArrayList;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.gmp4j.flow.ChanPublisher;

/**
 * Converts channels to types of the JDK, and joins and splits channels. Thread-safe. Goroutines, virtual threads and platform threads may
 * call all methods. None of them waits, so interrupts have no effect on them. The executor {@code on} starts goroutines for background
 * work. It is a {@link Gmp}, or, in a goroutine, {@code Go::go}, which starts them in the caller's bubble of {@code Synctest}. A cancel of
 * {@code ctx} ends these goroutines; an element that such a goroutine has received but not yet passed on is lost.
 */
public final class Chans {
    private Chans() {
    }

    /**
     * Returns a channel that passes on the elements of all channels {@code in}. It is closed when all of them are closed and drained, or
     * {@code ctx} is cancelled. The elements of each channel keep their order.
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
     * Returns {@code n} channels, each with a buffer for {@code capacity} elements. Each element of {@code in} is sent to all of them. The
     * slowest of their receivers sets the pace. The channels are closed when {@code in} is closed and drained, or {@code ctx} is cancelled.
     * (Receivers share the elements if they receive from {@code in} itself.)
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

    /** Calls {@code then} with each element of {@code in}, until {@code in} is closed and drained, or {@code ctx} is cancelled. */
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

    /**
     * Returns a sequential stream that receives its elements until the channel is closed and drained. The stream waits like {@link
     * RecvChan#recv}.
     */
    public static <T> Stream<T> stream(RecvChan<T> c) {
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(c.iterator(), Spliterator.ORDERED | Spliterator.NONNULL), false);
    }

    /**
     * Returns a view of the channel as a queue. {@code put} is a send and {@code take} a receive, and an interrupt ends their waits on all
     * threads. {@code offer} and {@code poll} do not wait, or wait with a limit. Once the channel is closed and drained, {@code poll}
     * returns null, and {@code take} throws an {@link IllegalStateException}. On a closed channel {@code put} and {@code offer} throw a
     * {@link ChanClosedException}. The size, {@code peek}, {@code contains}, {@code remove(Object)}, the iterator and the stream see the
     * elements in the buffer, not those of waiting senders. The iterator and the stream show the buffer as it was when they were made.
     * {@code remove} of an element receives it, in time proportional to the size of the buffer.
     */
    public static <T> BlockingQueue<T> queue(Chan<T> c) {
        return new ChanQueue<>(c);
    }

    /**
     * Returns a publisher of the channel's elements. Each element is delivered to only one of its subscribers, as with several receivers of
     * a channel. Each subscriber has a goroutine of its own, which receives when there is demand. The publisher completes when the channel
     * is closed and drained, whether there is demand or not. A subscriber gets these exceptions by {@code onError}: its own exception if it
     * throws one, an {@link IllegalArgumentException} if it requests less than 1 element, and an {@link IllegalStateException} if it
     * subscribes while its earlier subscription is active. If {@code on} refuses the goroutine, the subscriber gets the exception of {@code
     * on}.
     */
    public static <T> Flow.Publisher<T> publisher(Executor on, RecvChan<T> c) {
        return new ChanPublisher<>(on, c);
    }

    /**
     * Subscribes to {@code from}, and requests {@code capacity} elements at a time, so that a slow receiver slows the publisher down. The
     * channel of the subscription is closed when the publisher completes or fails, or when the subscription is closed.
     *
     * @throws IllegalArgumentException when {@code capacity} is less than 1
     */
    public static <T> ChanSubscription<T> subscribe(Flow.Publisher<? extends T> from, int capacity) {
        ChanSubscription<T> s = new ChanSubscription<>(capacity);
        from.subscribe(s.subscriber());
        return s;
    }
}
