// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.SocketOptions;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.ffi.UnixSockets;
import org.gmp4j.netpoll.PollFd;
import org.jspecify.annotations.Nullable;

/** The settings of listeners ({@code net.ListenConfig}), for any number of listeners. Not thread-safe while it is set up. */
public final class ListenConfig {
    /** The default number of seconds before the first probe of a silent peer, and between two probes. */
    static final int KEEP_ALIVE_SECONDS = 15;
    /** The greatest number of seconds that the kernel accepts. */
    private static final int KEEP_ALIVE_MOST = 32_767;
    /** A connection ends after this number of unanswered probes. */
    static final int KEEP_ALIVE_COUNT = 9;
    private static final int BACKLOG = 4096;

    private boolean reusePort;
    private int backlog = BACKLOG;
    private int keepAlive = KEEP_ALIVE_SECONDS;

    /** Makes the default settings. */
    public ListenConfig() {
    }

    /**
     * Sets whether several sockets, all with this setting, may listen on one address (SO_REUSEPORT). The kernel distributes the
     * connections.
     *
     * @param on true to allow it; false is the default
     * @return this
     */
    public ListenConfig reusePort(boolean on) {
        reusePort = on;
        return this;
    }

    /**
     * Sets how many connections may wait for an accept.
     *
     * @param n positive, 4096 by default; the kernel has a limit of its own
     * @return this
     */
    public ListenConfig backlog(int n) {
        if (n <= 0) {
            throw new IllegalArgumentException("the backlog is " + n + ": use 1 or more");
        }
        backlog = n;
        return this;
    }

    /**
     * Sets how long a peer is silent before the kernel probes it.
     *
     * @param d 1 s to 32,767 s, 15 s by default; null or zero for never
     * @return this
     * @throws IllegalArgumentException when {@code d} is out of that range
     */
    public ListenConfig keepAlive(@Nullable Duration d) {
        keepAlive = keepAliveSeconds(d);
        return this;
    }

    /** Returns the seconds before the first probe; 0 for no probes. Throws an IllegalArgumentException for a time out of range. */
    static int keepAliveSeconds(@Nullable Duration d) {
        if (d == null || d.isZero()) {
            return 0;
        }
        long s = d.toSeconds();
        if (s < 1 || s > KEEP_ALIVE_MOST) {
            throw new IllegalArgumentException("the keep-alive period is " + d + ": use 1 s to " + KEEP_ALIVE_MOST
                    + " s, or zero for never");
        }
        return (int) s;
    }

    /**
     * Listens for TCP connections.
     *
     * @param address {@code host:port}; {@code :port} for all addresses of this machine, IPv4 and IPv6; port 0 for a free port
     * @return the listener
     * @throws IOException when the address is taken, or not this machine's; or an {@link ExhaustedException}
     * @throws IllegalArgumentException when the address has another form
     */
    public TcpListener listen(String address) throws IOException {
        return listen(Addresses.local(address));
    }

    /**
     * Listens for TCP connections.
     *
     * @param address a resolved address; port 0 for a free port
     * @return the listener
     * @throws IOException as {@link #listen(String)}
     */
    public TcpListener listen(InetSocketAddress address) throws IOException {
        Errors.prepare();
        int d = -1;
        TcpListener l = null;
        try {
            d = bound(address, true);
            Sockets.listen(d, backlog);
            l = new TcpListener(new PollFd(d), Sockets.localAddress(d));
            return l;
        } catch (NativeException e) {
            throw Errors.of("listen", "tcp " + Addresses.text(address), e);
        } finally {
            if (l == null && d >= 0) {
                Fd.release(d);
            }
        }
    }

    /**
     * Listens for connections of the Unix domain.
     *
     * @param path the path, at most 107 bytes, of a file that this makes and {@code close} removes; or an abstract name, which begins with
     *     {@code @} and has no file
     * @return the listener
     * @throws IOException when the file exists, or cannot be made; or an {@link ExhaustedException}
     * @throws IllegalArgumentException when the path is empty, too long, or has a NUL
     */
    public UnixListener listenUnix(String path) throws IOException {
        Errors.prepare();
        int d = -1;
        boolean bound = false;
        UnixListener l = null;
        try {
            d = UnixSockets.stream();
            UnixSockets.bind(d, path);
            bound = true;
            Sockets.listen(d, backlog);
            l = new UnixListener(new PollFd(d), path);
            return l;
        } catch (NativeException e) {
            throw Errors.of("listen", "unix " + path, e);
        } finally {
            if (l == null && d >= 0) {
                Fd.release(d);
                if (bound) {
                    UnixSockets.unlink(path);
                }
            }
        }
    }

    /**
     * Opens a socket of the Unix domain for datagrams from any sender.
     *
     * @param path as for {@link #listenUnix}
     * @return the socket
     * @throws IOException when the file exists, or cannot be made; or an {@link ExhaustedException}
     * @throws IllegalArgumentException when the path is empty, too long, or has a NUL
     */
    public UnixgramConn listenUnixgram(String path) throws IOException {
        Errors.prepare();
        int d = -1;
        boolean bound = false;
        UnixgramConn c = null;
        try {
            d = UnixSockets.datagram();
            UnixSockets.bind(d, path);
            bound = true;
            c = new UnixgramConn(new PollFd(d), path, null);
            return c;
        } catch (NativeException e) {
            throw Errors.of("listen", "unixgram " + path, e);
        } finally {
            if (c == null && d >= 0) {
                Fd.release(d);
                if (bound) {
                    UnixSockets.unlink(path);
                }
            }
        }
    }

    /**
     * Opens a UDP socket for datagrams from any sender.
     *
     * @param address {@code host:port}, as for {@link #listen(String)}
     * @return the socket
     * @throws IOException as {@link #listen(String)}
     */
    public UdpConn listenPacket(String address) throws IOException {
        InetSocketAddress local = Addresses.local(address);
        Errors.prepare();
        int d = -1;
        UdpConn c = null;
        try {
            d = bound(local, false);
            InetSocketAddress given = Sockets.localAddress(d);
            c = new UdpConn(new PollFd(d), given, null, isIpv6(local, given));
            return c;
        } catch (NativeException e) {
            throw Errors.of("listen", "udp " + Addresses.text(local), e);
        } finally {
            if (c == null && d >= 0) {
                Fd.release(d);
            }
        }
    }

    /**
     * Returns whether the socket for an address is an IPv6 socket. The socket for the wildcard address is an IPv6 socket if the system has
     * IPv6, even if {@code wanted} is the wildcard address of IPv4.
     */
    private static boolean isIpv6(InetSocketAddress wanted, InetSocketAddress given) {
        return wanted.getAddress().isAnyLocalAddress() ? Addresses.isIpv6(given) : Addresses.isIpv6(wanted);
    }

    /** Makes a socket and binds it to this address. A socket of the wildcard address serves IPv4 and IPv6 if the system has both. */
    private int bound(InetSocketAddress address, boolean tcp) throws IOException {
        if (address.getAddress() != null && address.getAddress().isAnyLocalAddress()) {
            try {
                InetAddress any = InetAddress.getByAddress(new byte[16]);
                return bound(new InetSocketAddress(any, address.getPort()), tcp, true);
            } catch (NativeException e) {
                if (e.errno() != Errno.EAFNOSUPPORT && e.errno() != Errno.EADDRNOTAVAIL) {
                    throw e;
                }
            }
            return bound(new InetSocketAddress(InetAddress.getByAddress(new byte[4]), address.getPort()), tcp, false);
        }
        return bound(address, tcp, Addresses.isIpv6(address));
    }

    private int bound(InetSocketAddress address, boolean tcp, boolean ipv6) {
        int d = tcp ? Sockets.tcp(ipv6) : Sockets.udp(ipv6);
        boolean done = false;
        try {
            if (ipv6) {
                SocketOptions.ipv6Only(d, !address.getAddress().isAnyLocalAddress());
            }
            if (reusePort) {
                SocketOptions.reusePort(d);
            }
            if (tcp) { // Each connection inherits the following options from the listener.
                SocketOptions.reuseAddress(d);
                options(d, keepAlive);
            } else {
                SocketOptions.broadcast(d);
            }
            Sockets.bind(d, address);
            done = true;
            return d;
        } finally {
            if (!done) {
                Fd.release(d);
            }
        }
    }

    /** Sets the options of a TCP connection. */
    static void options(int d, int keepAliveSeconds) {
        SocketOptions.noDelay(d, true);
        if (keepAliveSeconds > 0) {
            SocketOptions.keepAlive(d, true);
            SocketOptions.keepAliveTimes(d, keepAliveSeconds, keepAliveSeconds, KEEP_ALIVE_COUNT);
        }
    }
}
