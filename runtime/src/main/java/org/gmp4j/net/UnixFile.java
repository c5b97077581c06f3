// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.UnixSockets;
import org.gmp4j.proc.GStack;

/**
 * The file that a Unix socket was given for its name; of a name with {@code @} there is none. It is removed before the
 * socket is closed: while it is there somebody is there, so nobody takes it for one that was left behind, and its name, just
 * before another's would be removed.
 */
final class UnixFile {
    private final String path;
    /** Whether the file is ours to remove: to the first close. */
    private final AtomicBoolean ours = new AtomicBoolean(true);

    UnixFile(String path) {
        this.path = path;
    }

    /** Before the close. */
    void remove() {
        GStack.checkAll(); // Refused before anything has happened.
        if (ours.compareAndSet(true, false)) {
            boolean done = false;
            try {
                UnixSockets.unlink(path);
                done = true;
            } finally {
                if (!done) {
                    ours.set(true); // No memory.
                }
            }
        }
    }
}
