// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

/**
 * Work that is deferred to the end of a block. Go's {@code defer} does that for a function, and {@link Go#defer} for a goroutine.
 *
 * {@snippet :
 * try (Scope scope = new Scope()) {
 *     for (Path p : files) {
 *         Reader r = open(p);
 *         scope.defer(() -> quietly(r)); // Runs at the end of the block, the last first.
 *     }
 *     merge();
 * }
 * }
 *
 * <p>Threads of any kind may use a scope, one at a time. A scope does not wait by itself, so interrupts and bubbles make no difference.
 */
public final class Scope implements AutoCloseable {
    private final Deque<Runnable> deferred = new ArrayDeque<>();

    /** Makes a scope without deferred work. */
    public Scope() {
    }

    /** Defers {@code r} until {@link #close}. The work that was deferred last runs first. */
    public void defer(Runnable r) {
        deferred.push(Objects.requireNonNull(r, "defer of nil func value"));
    }

    /**
     * Runs all deferred work, the last first, even if some of it throws. Then it throws the first exception, with the others suppressed in
     * it.
     */
    @Override
    public void close() {
        Throwable first = null;
        while (!deferred.isEmpty()) {
            try {
                deferred.pop().run();
            } catch (Throwable t) {
                if (first == null) {
                    first = t;
                } else if (first != t) {
                    first.addSuppressed(t);
                }
            }
        }
        if (first != null) {
            throw Go.<RuntimeException>sneaky(first);
        }
    }
}
