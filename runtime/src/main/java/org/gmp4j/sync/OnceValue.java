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
 * A value that the first {@link #get} computes. Thread-safe. Goroutines, virtual threads and platform threads may use it. A wait for the
 * computation is like a wait for a {@link Mutex}: an interrupt does not end it, and the clock of a bubble does not move on during it.
 * Source: Go's {@code sync.OnceValue}.
 *
 * @param <T> the type of the value, which may be {@code null}
 */
public final class OnceValue<T extends @Nullable Object> implements Supplier<T> {
    private final Once once = new Once();
    /** Only the run of {@link #once} writes this field and the next two. The run happens before each read. */
    private @Nullable Supplier<T> supplier;
    private @Nullable T value;
    private @Nullable Throwable thrown;

    private OnceValue(Supplier<T> supplier) {
        this.supplier = supplier;
    }

    /** Makes a value that {@code supplier} computes. The supplier is called at most once. */
    public static <T extends @Nullable Object> OnceValue<T> of(Supplier<T> supplier) {
        return new OnceValue<>(Objects.requireNonNull(supplier, "supplier"));
    }

    /**
     * Returns the value. The first call computes the value, and other calls wait until it is computed. If the supplier threw an exception,
     * every call throws that exception. If it called {@code goexit}, later calls throw an {@link IllegalStateException}.
     */
    @Override
    public T get() {
        once.run(new Computation(this));
        return computed();
    }

    /**
     * Like {@link #get}, this computes the value or waits for another thread to do so, but an interrupt of the calling thread ends that
     * wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     */
    public T getInterruptibly() throws InterruptedException {
        once.runInterruptibly(new Computation(this));
        return computed();
    }

    /**
     * Like {@link #get}, this computes the value or waits for another thread to do so, but a cancel of {@code ctx} ends that wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     */
    public T getUnless(Cancelable ctx) {
        once.runUnless(ctx, new Computation(this));
        return computed();
    }

    /**
     * Like {@link #get}, this computes the value or waits for another thread to do so, but for {@code d} at most. If {@code d} is zero or
     * less, it does not wait.
     *
     * @throws TimeoutException when the time was up
     */
    public T getWithin(Duration d) throws TimeoutException {
        if (!once.runWithin(new Computation(this), d)) {
            throw new TimeoutException();
        }
        return computed();
    }

    /** The function of {@link #once}. */
    private record Computation(OnceValue<?> of) implements Runnable {
        @Override
        public void run() {
            of.compute();
        }
    }

    @SuppressWarnings("NullAway") // The supplier's value may be null only if T may be.
    private T computed() {
        if (thrown != null) {
            throw OnceValue.<RuntimeException>sneaky(thrown);
        }
        return value;
    }

    @SuppressWarnings("NullAway") // The supplier is cleared only after its one call.
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
            supplier = null; // The collector can take it now.
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E sneaky(Throwable t) throws E {
        throw (E) t;
    }
}
