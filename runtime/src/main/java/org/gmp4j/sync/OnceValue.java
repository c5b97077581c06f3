// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.gmp4j.Cancelable;
import org.gmp4j.stack.Goexit;
import org.jspecify.annotations.Nullable;

/**
 * A value that is computed when it is first asked for. Thread-safe, from goroutines, virtual threads and platform threads. A wait for it
 * is as one for a {@link Mutex}: interrupts leave it alone, and in a bubble it holds the clock. Source: Go's {@code sync.OnceValue}.
 *
 * @param <T> its type; {@code null} is a value like others
 */
public final class OnceValue<T extends @Nullable Object> implements Supplier<T> {
    private final Once once = new Once();
    /** All three by the one run, which {@link #once} orders. */
    private @Nullable Supplier<T> supplier;
    private @Nullable T value;
    private @Nullable Throwable thrown;

    private OnceValue(Supplier<T> supplier) {
        this.supplier = supplier;
    }

    /** The value that {@code supplier} gives; it is called at most once. */
    public static <T extends @Nullable Object> OnceValue<T> of(Supplier<T> supplier) {
        return new OnceValue<>(Objects.requireNonNull(supplier, "supplier"));
    }

    /**
     * The value; the first call computes it, others wait. If the supplier threw, every call throws the same. If it called
     * {@code goexit}, later calls throw {@link IllegalStateException}.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    @Override
    public T get() {
        once.run(new Computation(this));
        return computed();
    }

    /**
     * As {@link #get}, until an interrupt of the calling thread ends the wait for another's computation; its own is left alone.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     */
    public T getInterruptibly() throws InterruptedException {
        once.runInterruptibly(new Computation(this));
        return computed();
    }

    /**
     * As {@link #get}, until {@code ctx} is cancelled while this waits for another's computation; its own is left alone.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     */
    public T getUnless(Cancelable ctx) {
        once.runUnless(ctx, new Computation(this));
        return computed();
    }

    /**
     * As {@link #get}, waiting for another's computation for {@code d} at most; zero or less only looks.
     *
     * @throws TimeoutException when the time was up
     */
    public T getWithin(Duration d) throws TimeoutException {
        if (!once.runWithin(new Computation(this), d)) {
            throw new TimeoutException();
        }
        return computed();
    }

    /** The one run. No lambda: see HACKING, on errors that come from anywhere. */
    private record Computation(OnceValue<?> of) implements Runnable {
        @Override
        public void run() {
            of.compute();
        }
    }

    @SuppressWarnings("NullAway") // What the supplier gave, which may be null only where T may.
    private T computed() {
        if (thrown != null) {
            throw OnceValue.<RuntimeException>sneaky(thrown);
        }
        return value;
    }

    @SuppressWarnings("NullAway") // Called once, and cleared then.
    private void compute() {
        try {
            value = supplier.get();
        } catch (Throwable t) {
            if (t == Goexit.INSTANCE) {
                thrown = new IllegalStateException("sync: the supplier of this OnceValue called goexit");
                throw t;
            }
            thrown = t;
        } finally {
            supplier = null; // For the collector.
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E sneaky(Throwable t) throws E {
        throw (E) t;
    }
}
