// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.util.Objects;
import java.util.function.Supplier;

import org.gmp4j.stack.Goexit;

/**
 * A value that is computed when it is first asked for. Thread-safe, from goroutines, virtual threads and platform threads; who waits for it
 * waits as for a {@link Mutex}, whatever interrupts come, and in a bubble holds its clock. Source: Go's
 * {@code sync.OnceValue}.
 *
 * @param <T> its type; {@code null} is a value like others
 */
public final class OnceValue<T> implements Supplier<T> {
    private final Once once = new Once();
    /** All three by the one run, which {@link #once} orders. */
    private Supplier<T> supplier;
    private T value;
    private Throwable thrown;

    private OnceValue(Supplier<T> supplier) {
        this.supplier = supplier;
    }

    /** The value that {@code supplier} gives; it is called at most once. */
    public static <T> OnceValue<T> of(Supplier<T> supplier) {
        return new OnceValue<>(Objects.requireNonNull(supplier, "supplier"));
    }

    /**
     * The value; the first call computes it, others wait. If the supplier threw, every call throws the same. If it called
     * {@code goexit}, later calls throw {@link IllegalStateException}.
     */
    @Override
    public T get() {
        once.run(this::compute);
        if (thrown != null) {
            throw OnceValue.<RuntimeException>sneaky(thrown);
        }
        return value;
    }

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
