// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

import org.jspecify.annotations.NullMarked;

/**
 * Why a context has ended: one of the two objects {@link Context#CANCELED} and {@link Context#DEADLINE_EXCEEDED}, which are shared, so
 * they carry no stack trace and take nothing suppressed. Waits that a context ends throw it, on threads of all kinds, whether
 * interrupted or not; a bubble's deadlines go by its clock.
 */
@NullMarked
public abstract sealed class ContextException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private ContextException(String text) {
        super(text, null, false, false);
    }

    /** Somebody has cancelled it: "context canceled". */
    public static final class Canceled extends ContextException {
        private static final long serialVersionUID = 1;

        Canceled() {
            super("context canceled");
        }
    }

    /** Its time was up: "context deadline exceeded". */
    public static final class DeadlineExceeded extends ContextException {
        private static final long serialVersionUID = 1;

        DeadlineExceeded() {
            super("context deadline exceeded");
        }
    }
}
