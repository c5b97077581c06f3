// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

/**
 * Unwinds a goroutine for {@code goexit}. There is one instance, without a stack trace and suppressed exceptions. It is not an
 * {@link Exception}.
 */
public final class Goexit extends Throwable {
    private static final long serialVersionUID = 1L;

    /** The instance. */
    public static final Goexit INSTANCE = new Goexit();

    private Goexit() {
        super("goexit", null, false, false);
    }
}
