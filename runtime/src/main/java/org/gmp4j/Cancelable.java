// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.function.BooleanSupplier;

import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * What ends waits when it is cancelled: a {@code Context}. Every wait of this library takes one: {@code recvUnless(ctx)},
 * {@code lockUnless(ctx)}, {@code Go.sleepUnless(ctx, d)}. Implementations are
 * thread-safe, and as their methods are called in the middle of the runtime, they neither wait nor take a lock or monitor: atomics
 * will do. Any thread may call them, one that is interrupted too, and in a bubble of {@code Synctest} those of the bubble.
 */
@NullMarked
public interface Cancelable {
    /** Null until this is cancelled; then what waits throw that it ends, always the same. */
    @Nullable RuntimeException err();

    /**
     * Has {@code quick} run once when this is cancelled, on the thread that cancels; at once if it is cancelled already. It is called
     * in the middle of the runtime: it must not wait, nor throw.
     *
     * @return a function that keeps it from being run; true if it did, false if it was run before or is about to be
     */
    BooleanSupplier whenCancelled(Runnable quick);
}
