// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.UnixSockets;
import org.gmp4j.sched.GStack;

/**
 * The file of a Unix socket. A socket whose name begins with {@code @} has no file. The file is removed before the socket is closed, so
 * that the file never exists without the socket. Otherwise another process could take the file for a stale one and replace it by its own
 * file, which this process would then remove.
 */
final class UnixFile {
    private final String path;
    /** Whether the file is still to be removed. Only the first close removes it. */
    private final AtomicBoolean toRemove = new AtomicBoolean(true);

    UnixFile(String path) {
        this.path = path;
    }

    /** Removes the file. Called before the socket is closed. */
    void remove() {
        GStack.checkAll(); // A stack overflow must not happen after a change.
        if (toRemove.compareAndSet(true, false)) {
            boolean done = false;
            try {
                UnixSockets.unlink(path);
                done = true;
            } finally {
                if (!done) {
                    toRemove.set(true); // There was no memory for the call, so the file still exists.
                }
            }
        }
    }
}
