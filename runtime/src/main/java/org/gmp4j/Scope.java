// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

import org.jspecify.annotations.NullMarked;

/**
 * Deferred work of a block. Go's {@code defer} is for a function, and {@link Go#defer} for a goroutine.
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
 * <p>Only one thread may use a scope at a time; it may be a thread of any kind. A scope does not wait by itself, so interrupts and bubbles
 * make no difference.
 */
@NullMarked
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
     * Runs all deferred work, the last first, even if some of it throws. Then it throws the first exception, with the later ones suppressed
     * in it.
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
