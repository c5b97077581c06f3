// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.net.SocketException;

/**
 * Thrown when the process or the system has no descriptor left, or no memory for a socket: EMFILE, ENFILE, ENOBUFS, ENOMEM, and ENOSPC of
 * epoll. Nothing has changed, and a connection that was to be accepted still waits. The call may succeed later, when other sockets or files
 * were closed.
 */
public final class ExhaustedException extends SocketException {
    private static final long serialVersionUID = 1;

    ExhaustedException(String text) {
        super(text);
    }
}
