// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;

import org.gmp4j.ffi.SocketAddresses;
import org.gmp4j.netpoll.PollFd;
import org.jspecify.annotations.Nullable;

/**
 * A UDP socket ({@code net.UDPConn}). A socket from {@link #dial} sends to one peer and receives only from it. A socket from
 * {@link #listen} sends to any address, also by broadcast, and receives from any sender. Thread-safe: see {@link DatagramConn}.
 */
public final class UdpConn extends DatagramConn<InetSocketAddress> {
    private final InetSocketAddress local;
    private final boolean ipv6;

    UdpConn(PollFd fd, InetSocketAddress local, @Nullable InetSocketAddress remote, boolean ipv6) {
        super(fd, remote);
        this.local = local;
        this.ipv6 = ipv6;
    }

    /**
     * Opens a socket for datagrams from any sender.
     *
     * @param address {@code host:port}; {@code :port} for all addresses of this machine, IPv4 and IPv6; port 0 for a free port
     * @return the socket
     * @throws IOException as {@link ListenConfig#listenPacket}
     */
    public static UdpConn listen(String address) throws IOException {
        return new ListenConfig().listenPacket(address);
    }

    /**
     * Opens a socket for one peer. This sends nothing, and so does not find out whether the peer exists.
     *
     * @param address {@code host:port}
     * @return the socket
     * @throws IOException as {@link Dialer#dialUdp}
     */
    public static UdpConn dial(String address) throws IOException {
        return new Dialer().dialUdp(address);
    }

    @Override
    String what() {
        return "udp " + Addresses.text(local) + (remote == null ? "" : "->" + Addresses.text(remote));
    }

    /**
     * Returns the address of this socket.
     *
     * @return the address
     */
    public InetSocketAddress localAddr() {
        return local;
    }

    /**
     * Returns the address of the peer.
     *
     * @return its address; null for a socket from {@link #listen}
     */
    public @Nullable InetSocketAddress remoteAddr() {
        return remote;
    }

    @Override
    void encode(long place, InetSocketAddress address) {
        SocketAddresses.write(place, address, ipv6);
    }

    @Override
    InetSocketAddress decode(long place) {
        return SocketAddresses.read(place);
    }

    @Override
    boolean waitsForReceiver() {
        return true;
    }

    /** Returns whether two addresses are equal and have the same scope id, which Java's comparison leaves out. */
    @Override
    boolean same(InetSocketAddress a, InetSocketAddress b) {
        return a.equals(b) && scopeId(a) == scopeId(b);
    }

    private static int scopeId(InetSocketAddress a) {
        return a.getAddress() instanceof Inet6Address ip ? ip.getScopeId() : 0;
    }
}
