// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

import org.gmp4j.ffi.Sockets;
import org.gmp4j.netpoll.PollFd;

/** A stream connection of the Unix domain ({@code net.UnixConn}). Thread-safe: see {@link Conn}. */
public final class UnixConn extends Conn implements GatheringByteChannel, ScatteringByteChannel {
    private final String path;

    UnixConn(PollFd fd, String path) {
        super(fd);
        this.path = path;
    }

    /**
     * Connects. It never waits. If the queue of the listener is full, it throws an exception.
     *
     * @param path the listener's path, or its name with {@code @}
     * @return the connection
     * @throws IOException as {@link Dialer#dialUnix}
     */
    public static UnixConn dial(String path) throws IOException {
        return new Dialer().dialUnix(path);
    }

    @Override
    boolean isStream() {
        return true;
    }

    @Override
    String what() {
        return "unix " + path;
    }

    /**
     * Returns the listener's address.
     *
     * @return its path, or its name with {@code @}
     */
    public String addr() {
        return path;
    }

    /**
     * Ends reading. Reads return the bytes that have arrived, and then -1. Reads that wait return at once. Writing is not affected.
     *
     * @throws IOException when the connection is closed, or the peer has gone
     */
    public void closeRead() throws IOException {
        shutdown(Sockets.SHUT_RD);
    }

    /**
     * Ends writing. The peer reads the bytes that were written, and then the end. Reading is not affected.
     *
     * @throws IOException when the connection is closed, or the peer has gone
     */
    public void closeWrite() throws IOException {
        shutdown(Sockets.SHUT_WR);
    }
}
