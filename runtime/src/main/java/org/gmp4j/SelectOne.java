// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Select} as an expression: each case gives a value, and {@link #run} returns that of the case that was chosen. All else is as for
 * {@code Select}: which threads may call it, what an interrupt does, what happens in a bubble, and that one thread uses it at a time.
 *
 * {@snippet :
 * String what = Select.<String>one().recv(numbers, n -> "number " + n).recv(words, w -> "word " + w)
 *         .timeout(second, () -> "nothing").run();
 * }
 *
 * @param <R> the type of the value
 */
@NullMarked
public final class SelectOne<R> {
    private final Select select = Select.of();
    /** Of the case that was just chosen. */
    private @Nullable R value;

    SelectOne() {
    }

    /** What a receive does when it is chosen. No lambda: see HACKING, on errors that come from anywhere. */
    private record Received<T, R>(SelectOne<R> of, Function<? super @Nullable T, ? extends R> then) implements Consumer<@Nullable T> {
        @Override
        @SuppressWarnings("NullAway") // It takes null.
        public void accept(@Nullable T v) {
            of.value = then.apply(v);
        }
    }

    /** What another case does. */
    private record Chosen<R>(SelectOne<R> of, Supplier<? extends R> then) implements Runnable {
        @Override
        public void run() {
            of.value = then.get();
        }
    }

    /** Adds a receive; {@code then} is given the element, or null when the channel was closed and drained. */
    public <T> SelectOne<R> recv(@Nullable RecvChan<T> c, Function<? super @Nullable T, ? extends R> then) {
        Select _ = select.recv(c, new Received<>(this, then));
        return this;
    }

    /** Adds a send. */
    public <T> SelectOne<R> send(@Nullable SendChan<T> c, T v, Supplier<? extends R> then) {
        Select _ = select.send(c, v, new Chosen<>(this, then));
        return this;
    }

    /** Sets what gives the value when no case can go on: it does not wait then. */
    public SelectOne<R> orElse(Supplier<? extends R> then) {
        Select _ = select.orElse(new Chosen<>(this, then));
        return this;
    }

    /** Sets what gives the value when no case can go on for {@code d}. */
    public SelectOne<R> timeout(Duration d, Supplier<? extends R> then) {
        Select _ = select.timeout(d, new Chosen<>(this, then));
        return this;
    }

    /** As {@link Select#run}; gives what the case that was chosen gives. */
    public @Nullable R run() {
        int _ = select.run();
        return take();
    }

    /** As {@link Select#runInterruptibly}; gives what the case that was chosen gives. */
    public @Nullable R runInterruptibly() throws InterruptedException {
        int _ = select.runInterruptibly();
        return take();
    }

    /** As {@link Select#runUnless}; gives what the case that was chosen gives. */
    public @Nullable R runUnless(Cancelable ctx) {
        int _ = select.runUnless(ctx);
        return take();
    }

    private @Nullable R take() {
        R v = value;
        value = null;
        return v;
    }
}
