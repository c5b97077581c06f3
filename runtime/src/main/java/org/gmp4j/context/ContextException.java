// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

/**
 * The reason why a context has ended. It is one of the two objects {@link Context#CANCELED} and {@link Context#DEADLINE_EXCEEDED}. The two
 * objects are shared, so they have no stack trace and no suppressed exceptions. A wait that a context ends throws one of them, on threads
 * of all kinds, whether interrupted or not. In a bubble deadlines go by the bubble's clock.
 */
public abstract sealed class ContextException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private ContextException(String text) {
        super(text, null, false, false);
    }

    /** The context was cancelled: "context canceled". */
    public static final class Canceled extends ContextException {
        private static final long serialVersionUID = 1;

        Canceled() {
            super("context canceled");
        }
    }

    /** The context's deadline has passed: "context deadline exceeded". */
    public static final class DeadlineExceeded extends ContextException {
        private static final long serialVersionUID = 1;

        DeadlineExceeded() {
            super("context deadline exceeded");
        }
    }
}
