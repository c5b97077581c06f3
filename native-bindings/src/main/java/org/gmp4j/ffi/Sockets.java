// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

import org.gmp4j.ffi.linux.in6_addr;
import org.gmp4j.ffi.linux.linux_h;
import org.gmp4j.ffi.linux.sockaddr_in;
import org.gmp4j.ffi.linux.sockaddr_in6;

/**
 * TCP and UDP sockets, non-blocking and closed on exec. {@link Fd#close} closes them, {@link Fd#read} reads from them. {@link #accept} and
 * {@link #send} return the negated error number of a failure, {@link #connect} the error number; most others throw. Thread-safe.
 */
public final class Sockets {
    /** {@link #shutdown}: no more reads. */
    public static final int SHUT_RD = linux_h.SHUT_RD;

    /** {@link #shutdown}: no more writes. */
    public static final int SHUT_WR = linux_h.SHUT_WR;

    /** {@link #shutdown}: neither reads nor writes. */
    public static final int SHUT_RDWR = linux_h.SHUT_RDWR;

    private static final Call.Function ACCEPT = Call.function("gmp_accept");
    private static final Call.Function SEND = Call.function("gmp_send");
    private static final MethodHandle SOCKET = Link.capturing(linux_h.socket$address(), linux_h.socket$descriptor());
    private static final MethodHandle BIND = Link.capturing(linux_h.bind$address(), linux_h.bind$descriptor());
    private static final MethodHandle LISTEN = Link.capturing(linux_h.listen$address(), linux_h.listen$descriptor());
    private static final MethodHandle CONNECT = Link.capturing(linux_h.connect$address(), linux_h.connect$descriptor());
    private static final MethodHandle SHUTDOWN =
            Link.capturing(linux_h.shutdown$address(), linux_h.shutdown$descriptor());
    private static final MethodHandle GETSOCKOPT =
            Link.capturing(linux_h.getsockopt$address(), linux_h.getsockopt$descriptor());
    private static final MethodHandle SETSOCKOPT =
            Link.capturing(linux_h.setsockopt$address(), linux_h.setsockopt$descriptor());
    private static final MethodHandle GETSOCKNAME =
            Link.capturing(linux_h.getsockname$address(), linux_h.getsockname$descriptor());
    private static final MethodHandle GETPEERNAME =
            Link.capturing(linux_h.getpeername$address(), linux_h.getpeername$descriptor());

    /** {@code SO_ACCEPTCONN} on x86-64 and aarch64. */
    private static final int SO_ACCEPTCONN = 30;

    /** The size of the largest address used here. */
    private static final long ADDRESS_BYTES =
            Math.max(sockaddr_in.layout().byteSize(), sockaddr_in6.layout().byteSize());

    static {
        Shims.load();
    }

    private Sockets() {
    }

    /**
     * Makes a TCP socket.
     *
     * @param ipv6 for IPv6 addresses
     * @return the descriptor
     * @throws NativeException EMFILE or ENFILE without a free descriptor, EAFNOSUPPORT without IPv6
     */
    public static int tcp(boolean ipv6) {
        return socket(ipv6 ? linux_h.AF_INET6 : linux_h.AF_INET, linux_h.SOCK_STREAM);
    }

    /**
     * Makes a UDP socket.
     *
     * @param ipv6 for IPv6 addresses
     * @return the descriptor
     * @throws NativeException EMFILE or ENFILE without a free descriptor, EAFNOSUPPORT without IPv6
     */
    public static int udp(boolean ipv6) {
        return socket(ipv6 ? linux_h.AF_INET6 : linux_h.AF_INET, linux_h.SOCK_DGRAM);
    }

    static int socket(int family, int type) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) SOCKET.invokeExact(state, family, type | linux_h.SOCK_NONBLOCK | linux_h.SOCK_CLOEXEC, 0);
            return check(r, "socket", state);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Binds a socket to its local address.
     *
     * @param fd the socket
     * @param local a resolved address; port 0 lets the kernel choose
     * @throws NativeException EADDRINUSE, EACCES
     */
    public static void bind(int fd, InetSocketAddress local) {
        try (Arena arena = Arena.ofConfined()) {
            bind(fd, encode(local, arena), local);
        }
    }

    static void bind(int fd, MemorySegment address, Object name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) BIND.invokeExact(state, fd, address, (int) address.byteSize());
            check(r, "bind(" + name + ")", state);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Makes a socket listen for connections.
     *
     * @param fd the socket
     * @param backlog the number of connections that may wait, which the kernel limits
     * @throws NativeException EADDRINUSE
     */
    public static void listen(int fd, int backlog) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) LISTEN.invokeExact(state, fd, backlog);
            check(r, "listen", state);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Accepts a waiting connection. Does not allocate.
     *
     * @param fd the listening socket
     * @return the new socket, non-blocking, or the negated error number ({@code -Errno.EAGAIN} when none waits)
     */
    public static int accept(int fd) {
        return (int) Call.call(ACCEPT, fd, 0, 0, linux_h.SOCK_NONBLOCK | linux_h.SOCK_CLOEXEC, 0, 0);
    }

    /**
     * Begins to connect.
     *
     * @param fd the socket
     * @param remote a resolved address
     * @return 0 when connected, {@link Errno#EINPROGRESS} when the connect goes on until the socket becomes writable (see
     *     {@link #error}), or another error number
     */
    public static int connect(int fd, InetSocketAddress remote) {
        try (Arena arena = Arena.ofConfined()) {
            return connect(fd, encode(remote, arena));
        }
    }

    static int connect(int fd, MemorySegment address) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) CONNECT.invokeExact(state, fd, address, (int) address.byteSize());
            return r < 0 ? Link.errno(state) : 0;
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Writes bytes without SIGPIPE. Does not allocate.
     *
     * @param fd the socket
     * @param buf address of the bytes
     * @param len their number
     * @return bytes written, or the negated error number ({@code -Errno.EAGAIN} when it would block)
     */
    public static long send(int fd, long buf, long len) {
        return Call.call(SEND, fd, buf, len);
    }

    /**
     * Ends one or both directions of a connection.
     *
     * @param fd the socket
     * @param how one of the {@code SHUT} constants
     * @throws NativeException ENOTCONN
     */
    public static void shutdown(int fd, int how) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) SHUTDOWN.invokeExact(state, fd, how);
            check(r, "shutdown", state);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Reads an option of type int.
     *
     * @param fd the socket
     * @param level for example {@code linux_h.SOL_SOCKET}
     * @param name for example {@code linux_h.SO_RCVBUF}
     * @return its value
     * @throws NativeException ENOPROTOOPT when there is no such option
     */
    public static int option(int fd, int level, int name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            MemorySegment value = arena.allocate(ValueLayout.JAVA_INT);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, Integer.BYTES);
            int r = (int) GETSOCKOPT.invokeExact(state, fd, level, name, value, length);
            check(r, "getsockopt(" + level + ", " + name + ")", state);
            return value.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Returns whether a socket listens for connections.
     *
     * @param fd the descriptor
     * @throws NativeException ENOTSOCK when the descriptor is not a socket, EBADF when it is closed
     */
    public static boolean isListening(int fd) {
        return option(fd, linux_h.SOL_SOCKET, SO_ACCEPTCONN) != 0;
    }

    /**
     * Sets an option of type int.
     *
     * @param fd the socket
     * @param level for example {@code linux_h.IPPROTO_TCP}
     * @param name for example {@code linux_h.TCP_NODELAY}
     * @param value its value
     * @throws NativeException ENOPROTOOPT when there is no such option
     */
    public static void setOption(int fd, int level, int name, int value) {
        try (Arena arena = Arena.ofConfined()) {
            setOption(fd, level, name, arena.allocateFrom(ValueLayout.JAVA_INT, value));
        }
    }

    static void setOption(int fd, int level, int name, MemorySegment value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) SETSOCKOPT.invokeExact(state, fd, level, name, value, (int) value.byteSize());
            check(r, "setsockopt(" + level + ", " + name + ")", state);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Reads and clears the pending error of a socket, such as the outcome of a connect that was in progress.
     *
     * @param fd the socket
     * @return 0, or the error number
     */
    public static int error(int fd) {
        return option(fd, linux_h.SOL_SOCKET, linux_h.SO_ERROR);
    }

    /**
     * Returns whether a socket is connected to a peer.
     *
     * @param fd the socket
     * @return false also while a connect is in progress
     */
    public static boolean isConnected(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, (int) ADDRESS_BYTES);
            return (int) GETPEERNAME.invokeExact(state, fd, arena.allocate(ADDRESS_BYTES, 8), length) == 0;
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Returns the socket's local address.
     *
     * @param fd the socket
     * @return the address
     * @throws NativeException when getsockname fails
     */
    public static InetSocketAddress localAddress(int fd) {
        return name(GETSOCKNAME, "getsockname", fd);
    }

    /**
     * Returns the peer's address.
     *
     * @param fd the socket
     * @return the address
     * @throws NativeException ENOTCONN
     */
    public static InetSocketAddress remoteAddress(int fd) {
        return name(GETPEERNAME, "getpeername", fd);
    }

    private static InetSocketAddress name(MethodHandle function, String call, int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            MemorySegment address = arena.allocate(ADDRESS_BYTES, 8);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, (int) ADDRESS_BYTES);
            int r = (int) function.invokeExact(state, fd, address, length);
            check(r, call, state);
            return decode(address);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /** Returns the address as a segment of exactly the size of its sockaddr_in or sockaddr_in6. */
    static MemorySegment encode(InetSocketAddress address, Arena arena) {
        switch (address.getAddress()) {
            case Inet4Address ip -> {
                MemorySegment s = sockaddr_in.allocate(arena);
                sockaddr_in.sin_family(s, (short) linux_h.AF_INET);
                sockaddr_in.sin_port(s, networkOrder(address.getPort()));
                MemorySegment.copy(MemorySegment.ofArray(ip.getAddress()), 0, sockaddr_in.sin_addr(s), 0, 4);
                return s;
            }
            case Inet6Address ip -> {
                MemorySegment s = sockaddr_in6.allocate(arena);
                sockaddr_in6.sin6_family(s, (short) linux_h.AF_INET6);
                sockaddr_in6.sin6_port(s, networkOrder(address.getPort()));
                sockaddr_in6.sin6_scope_id(s, ip.getScopeId());
                MemorySegment.copy(
                        MemorySegment.ofArray(ip.getAddress()), 0, sockaddr_in6.sin6_addr(s), 0, in6_addr.sizeof());
                return s;
            }
            case null -> throw new IllegalArgumentException("unresolved address " + address);
            default -> throw new IllegalArgumentException("neither IPv4 nor IPv6: " + address);
        }
    }

    /** Returns the address that the kernel wrote. An IPv4 address that is mapped into IPv6 becomes an IPv4 address. */
    static InetSocketAddress decode(MemorySegment s) {
        int family = Short.toUnsignedInt(sockaddr_in.sin_family(s));
        byte[] ip;
        int port;
        int scope = 0;
        if (family == linux_h.AF_INET) {
            ip = sockaddr_in.sin_addr(s).toArray(ValueLayout.JAVA_BYTE);
            port = networkOrder(sockaddr_in.sin_port(s));
        } else if (family == linux_h.AF_INET6) {
            ip = sockaddr_in6.sin6_addr(s).toArray(ValueLayout.JAVA_BYTE);
            port = networkOrder(sockaddr_in6.sin6_port(s));
            scope = sockaddr_in6.sin6_scope_id(s);
        } else {
            throw new IllegalArgumentException("address family " + family);
        }
        try {
            InetAddress address =
                    scope != 0 ? Inet6Address.getByAddress(null, ip, scope) : InetAddress.getByAddress(ip);
            return new InetSocketAddress(address, Short.toUnsignedInt((short) port));
        } catch (UnknownHostException e) {
            throw new AssertionError("4 or 16 bytes are an address", e);
        }
    }

    /** Converts a port between native and network byte order, in either direction. */
    private static short networkOrder(int port) {
        short s = (short) port;
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? s : Short.reverseBytes(s);
    }

    private static int check(int r, String call, MemorySegment state) {
        if (r < 0) {
            throw new NativeException(call, Link.errno(state));
        }
        return r;
    }
}
