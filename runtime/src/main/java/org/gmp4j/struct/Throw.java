// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Go's {@code throw}: the runtime has found its own structures broken and must not go on. {@link #of} passes the message to a hook, which
 * prints every G, M and P and ends the process. {@code of} returns an error only in tests with {@code -Dgmp.throw=error} and in a process
 * without a scheduler.
 */
public final class Throw extends Error {
    private static final long serialVersionUID = 1L;

    private static volatile @Nullable Consumer<Throw> hook;

    private Throw(String message) {
        super(message);
    }

    /** Reports {@code message}. Use it as {@code throw Throw.of(...)}. */
    public static Throw of(String message) {
        Throw t = new Throw(message);
        Consumer<Throw> h = hook;
        if (h != null) {
            h.accept(t);
        }
        return t;
    }

    /** Sets the hook that reports a throw and ends the process. */
    public static void setHook(Consumer<Throw> h) {
        hook = h;
    }
}
