// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Go's {@code throw}: the runtime found its own structures broken and must not go on. {@link #of} hands the message to
 * the hook of the {@code proc} floor, which prints every G, M and P and ends the process; the error it would return is
 * for tests that run with {@code -Dgmp.throw=error} and for a process without a scheduler.
 */
public final class Throw extends Error {
    private static final long serialVersionUID = 1L;

    private static volatile @Nullable Consumer<Throw> hook;

    private Throw(String message) {
        super(message);
    }

    /** Reports {@code message}; use as {@code throw Throw.of(...)}. */
    public static Throw of(String message) {
        Throw t = new Throw(message);
        Consumer<Throw> h = hook;
        if (h != null) {
            h.accept(t);
        }
        return t;
    }

    /** Sets what happens on a throw. */
    public static void setHook(Consumer<Throw> h) {
        hook = h;
    }
}
