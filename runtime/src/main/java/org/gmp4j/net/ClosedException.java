// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.nio.channels.ClosedChannelException;

/** A connection or listener was used after its {@code close}, or closed during the call ({@code net.ErrClosed}). */
public final class ClosedException extends ClosedChannelException {
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
