// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;

import org.gmp4j.ffi.SocketAddresses;
import org.gmp4j.netpoll.PollFd;
import org.jspecify.annotations.Nullable;

/**
 * A socket of the Unix domain for datagrams ({@code net.UnixConn} of the network {@code unixgram}). A socket from {@link #listen} has a
 * name, and exchanges datagrams with all sockets that have a name. A socket from {@link #dial} has no name and sends to one peer, which
 * cannot answer. No datagram is lost. If the receiver has no room, {@link #write} waits, but {@link #writeTo} fails, because the kernel
 * reports room only to a connected socket. Thread-safe: see {@link DatagramConn}.
 */
public final class UnixgramConn extends DatagramConn<String> {
    private final @Nullable String local;
    /** The file; null for a socket without a name. */
    private final @Nullable UnixFile file;

    UnixgramConn(PollFd fd, @Nullable String local, @Nullable String remote) {
        super(fd, remote);
        this.local = local;
        file = local == null ? null : new UnixFile(local);
    }

    /**
     * Opens a socket with a name.
     *
     * @param path as for {@link ListenConfig#listenUnixgram}
     * @return the socket
     * @throws IOException as {@link ListenConfig#listenUnixgram}
     */
    public static UnixgramConn listen(String path) throws IOException {
        return new ListenConfig().listenUnixgram(path);
    }

    /**
     * Opens a socket for one peer.
     *
     * @param path the peer's name
     * @return the socket
     * @throws IOException as {@link Dialer#dialUnixgram}
     */
    public static UnixgramConn dial(String path) throws IOException {
        return new Dialer().dialUnixgram(path);
    }

    @Override
    String what() {
        return "unixgram " + (local == null ? "" : local) + (remote == null ? "" : "->" + remote);
    }

    /**
     * Returns the name of this socket.
     *
     * @return its path, or its name with {@code @}; null for a socket from {@link #dial}
     */
    public @Nullable String localAddr() {
        return local;
    }

    /**
     * Returns the name of the peer.
     *
     * @return its name; null for a socket from {@link #listen}
     */
    public @Nullable String remoteAddr() {
        return remote;
    }

    @Override
    void encode(long place, String address) {
        SocketAddresses.writeUnix(place, address);
    }

    @Override
    String decode(long place) {
        return SocketAddresses.readUnix(place);
    }

    @Override
    boolean same(String a, String b) {
        return a.equals(b);
    }

    /** Returns false: the kernel reports room in the receiver's queue only to sockets that are connected to it. */
    @Override
    boolean waitsForReceiver() {
        return false;
    }

    /** Removes the file of the socket, if it is still there, and then closes the socket. */
    @Override
    public void close() {
        if (file != null) {
            file.remove();
        }
        super.close();
    }
}
