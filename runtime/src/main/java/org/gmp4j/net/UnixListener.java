// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;

import org.gmp4j.netpoll.PollFd;

/** A socket of the Unix domain that accepts connections ({@code net.UnixListener}). Thread-safe: see {@link Listener}. */
public final class UnixListener extends Listener<UnixConn> {
    private final String path;
    private final UnixFile file;

    UnixListener(PollFd fd, String path) {
        super(fd);
        this.path = path;
        file = new UnixFile(path);
    }

    /**
     * Listens with the settings of a new {@link ListenConfig}.
     *
     * @param path as for {@link ListenConfig#listenUnix}
     * @return the listener
     * @throws IOException as {@link ListenConfig#listenUnix}
     */
    public static UnixListener listen(String path) throws IOException {
        return new ListenConfig().listenUnix(path);
    }

    /**
     * Returns the address on which it listens.
     *
     * @return the path, or the abstract name with {@code @} in front
     */
    public String addr() {
        return path;
    }

    @Override
    String what() {
        return "unix " + path;
    }

    @Override
    UnixConn connection(int descriptor) {
        return new UnixConn(new PollFd(descriptor), path);
    }

    /**
     * Removes the file of the listener, if it is still there, and then closes the listener. Calls that wait in {@link #accept} throw a
     * {@link ClosedException}.
     */
    @Override
    public void close() {
        file.remove();
        super.close();
    }
}
