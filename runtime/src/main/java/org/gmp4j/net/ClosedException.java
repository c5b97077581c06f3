// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.nio.channels.AsynchronousCloseException;

/**
 * A connection or listener was used after its {@code close}, or closed during the call ({@code net.ErrClosed}). One class for both, as in
 * Go: a caller cannot tell the one from the other. {@link java.nio.channels.Channel}s throw a subclass of {@link
 * java.nio.channels.ClosedChannelException} in the first case, and an {@link AsynchronousCloseException} in the second.
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
