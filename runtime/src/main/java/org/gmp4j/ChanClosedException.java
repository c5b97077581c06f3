// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

/**
 * Thrown by a send on a closed channel, or a second close of a channel. The message is Go's, on threads of all kinds and in bubbles. An
 * interrupted thread gets this exception too, except from an operation that checks for interrupts before it checks the channel.
 */
public final class ChanClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    ChanClosedException(String text) {
        super(text);
    }
}
