// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;

import org.jspecify.annotations.NullMarked;

/**
 * Deferred work of a block, as Go's {@code defer} is that of a function; {@link Go#defer} is that of a goroutine.
 *
 * {@snippet :
 * try (Scope scope = new Scope()) {
 *     for (Path p : files) {
 *         Reader r = open(p);
 *         scope.defer(() -> quietly(r)); // Runs at the end of the block, last first.
 *     }
 *     merge();
 * }
 * }
 *
 * <p>One thread may use it at a time, of any kind. It does not wait by itself, so interrupts and bubbles make no difference.
 */
@NullMarked
public final class Scope implements AutoCloseable {
    private final Deque<Runnable> deferred = new ArrayDeque<>();

    /** Without deferred work. */
    public Scope() {
    }

    /** Has {@code r} run at {@link #close}. What is deferred last runs first. */
    public void defer(Runnable r) {
        deferred.push(Objects.requireNonNull(r, "defer of nil func value"));
    }

    /** Runs all deferred work, last first, also when some of it throws: the first exception comes out, with later ones suppressed in it. */
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
