// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.UnixSockets;
import org.gmp4j.sched.GStack;

/**
 * The file that a Unix socket was given for its name; a name with {@code @} has none. It is removed before the socket is closed, so that
 * while the file is there the socket is, too. Otherwise another process could take the file for one that was left behind and put its
 * own in its place, and then that one would be removed.
 */
final class UnixFile {
    private final String path;
    /** Whether this socket may remove the file. Only the first close does. */
    private final AtomicBoolean ours = new AtomicBoolean(true);

    UnixFile(String path) {
        this.path = path;
    }

    /** Removes the file. It is called before the socket is closed. */
    void remove() {
        GStack.checkAll(); // An overflow of the stack must come before anything has happened.
        if (ours.compareAndSet(true, false)) {
            boolean done = false;
            try {
                UnixSockets.unlink(path);
                done = true;
            } finally {
                if (!done) {
                    ours.set(true); // There was no memory.
                }
            }
        }
    }
}
