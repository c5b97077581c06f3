// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * An object, such as a {@code Context}, that ends waits when it is cancelled. Most waits of this library have a form that takes a {@code
 * Cancelable}: {@code recvUnless(ctx)}, {@code lockUnless(ctx)}, {@code Go.sleepUnless(ctx, d)}. Implementations are thread-safe. The
 * runtime calls their methods in the middle of its own work, so they must neither wait nor take a lock or monitor; atomics are enough. Any
 * thread may call them, including an interrupted thread and a goroutine in a bubble of {@code Synctest}.
 */
public interface Cancelable {
    /** Returns null until this is cancelled, and after that always the same exception object. The ended waits throw that exception. */
    @Nullable RuntimeException err();

    /**
     * Registers {@code quick}, which runs once when this is cancelled, on the thread that cancels. If this is cancelled already, it runs at
     * once. The runtime calls {@code quick} in the middle of its own work, so {@code quick} must neither wait nor throw.
     *
     * @return a function that unregisters {@code quick}. It returns true if {@code quick} will not run, and false if it has run or is about
     *     to run
     */
    BooleanSupplier whenCancelled(Runnable quick);
}
