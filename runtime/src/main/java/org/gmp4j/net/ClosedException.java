// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.nio.channels.AsynchronousCloseException;

/**
 * Thrown when a connection or listener was closed before a call or during it ({@code net.ErrClosed}). There is one class for both cases, as
 * in Go, because a caller cannot distinguish them. A {@link java.nio.channels.Channel} of the JDK throws a {@link
 * java.nio.channels.ClosedChannelException} in the first case, and the subclass {@link AsynchronousCloseException} in the second.
 */
public final class ClosedException extends AsynchronousCloseException {
    private static final long serialVersionUID = 1;

    private final String text;

    ClosedException(String text) {
        this.text = text;
    }

    @Override
    public String getMessage() {
        return text;
    }
}
