// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A {@link Select} as an expression: each case computes a value, and {@link #run} returns the value of the case that was chosen. The rules
 * of {@code Select} for threads, interrupts and bubbles hold, and only one thread may use it at a time.
 *
 * {@snippet :
 * String what = Select.<String>one().recv(numbers, n -> "number " + n).recv(words, w -> "word " + w)
 *         .timeout(second, () -> "nothing").run();
 * }
 *
 * @param <R> the type of the value
 */
public final class SelectOne<R> {
    private final Select select = Select.of();
    /** The value of the case that was just chosen. */
    private @Nullable R value;

    SelectOne() {
    }

    /** The action of a receive. */
    private record Received<T, R>(SelectOne<R> of, Function<? super @Nullable T, ? extends R> then) implements Consumer<@Nullable T> {
        @Override
        @SuppressWarnings("NullAway") // The function accepts null.
        public void accept(@Nullable T v) {
            of.value = then.apply(v);
        }
    }

    /** The action of a send, of the default or of the timeout. */
    private record Chosen<R>(SelectOne<R> of, Supplier<? extends R> then) implements Runnable {
        @Override
        public void run() {
            of.value = then.get();
        }
    }

    /** Adds a receive. {@code then} gets the element, or null when the channel was closed and drained. */
    public <T> SelectOne<R> recv(@Nullable RecvChan<T> c, Function<? super @Nullable T, ? extends R> then) {
        Select _ = select.recv(c, new Received<>(this, then));
        return this;
    }

    /** Adds a send. */
    public <T> SelectOne<R> send(@Nullable SendChan<T> c, T v, Supplier<? extends R> then) {
        Select _ = select.send(c, v, new Chosen<>(this, then));
        return this;
    }

    /** Sets the supplier of the value that is returned if no case can proceed. With it the select does not wait. */
    public SelectOne<R> orElse(Supplier<? extends R> then) {
        Select _ = select.orElse(new Chosen<>(this, then));
        return this;
    }

    /** Sets the supplier of the value that is returned if no case can proceed within {@code d}. */
    public SelectOne<R> timeout(Duration d, Supplier<? extends R> then) {
        Select _ = select.timeout(d, new Chosen<>(this, then));
        return this;
    }

    /** Like {@link Select#run}, this waits until a case can proceed. Returns the value of the case that was chosen. */
    public @Nullable R run() {
        int _ = select.run();
        return take();
    }

    /** Like {@link Select#runInterruptibly}, this waits until a case can proceed. Returns the value of the case that was chosen. */
    public @Nullable R runInterruptibly() throws InterruptedException {
        int _ = select.runInterruptibly();
        return take();
    }

    /** Like {@link Select#runUnless}, this waits until a case can proceed. Returns the value of the case that was chosen. */
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
