// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.net.InetSocketAddress;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.netpoll.PollFd;

/** A TCP socket that accepts connections ({@code net.TCPListener}). Thread-safe: see {@link Listener}. */
public final class TcpListener extends Listener<TcpConn> {
    private final InetSocketAddress address;

    TcpListener(PollFd fd, InetSocketAddress address) {
        super(fd);
        this.address = address;
    }

    /**
     * Listens with the settings of a new {@link ListenConfig}.
     *
     * @param address {@code host:port}; {@code :port} for all addresses of this machine, IPv4 and IPv6; port 0 for a free port
     * @return the listener
     * @throws IOException as {@link ListenConfig#listen(String)}
     */
    public static TcpListener listen(String address) throws IOException {
        return new ListenConfig().listen(address);
    }

    /**
     * Listens with the settings of a new {@link ListenConfig}.
     *
     * @param address a resolved address; port 0 for a free port
     * @return the listener
     * @throws IOException as {@link ListenConfig#listen(String)}
     */
    public static TcpListener listen(InetSocketAddress address) throws IOException {
        return new ListenConfig().listen(address);
    }

    /**
     * Returns the address on which it listens, with its port.
     *
     * @return the address
     */
    public InetSocketAddress addr() {
        return address;
    }

    @Override
    String what() {
        return "tcp " + Addresses.text(address);
    }

    @Override
    TcpConn connection(int descriptor) {
        InetSocketAddress remote = null;
        try {
            remote = Sockets.remoteAddress(descriptor);
        } catch (NativeException gone) {
            // The connection was reset already. The first read reports that.
        }
        return new TcpConn(PollFd.ofTcp(descriptor), null, remote);
    }
}
