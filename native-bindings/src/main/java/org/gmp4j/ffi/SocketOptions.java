// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.gmp4j.ffi.linux.linux_h;

/** Sets options of sockets. Each method throws {@link NativeException} when the kernel refuses. Thread-safe. */
public final class SocketOptions {
    private SocketOptions() {
    }

    /**
     * Sets TCP_NODELAY.
     *
     * @param fd the socket
     * @param on whether the kernel sends small writes at once
     */
    public static void noDelay(int fd, boolean on) {
        set(fd, linux_h.IPPROTO_TCP, linux_h.TCP_NODELAY, on ? 1 : 0);
    }

    /**
     * Sets SO_KEEPALIVE.
     *
     * @param fd the socket
     * @param on whether the kernel probes a silent peer
     */
    public static void keepAlive(int fd, boolean on) {
        set(fd, linux_h.SOL_SOCKET, linux_h.SO_KEEPALIVE, on ? 1 : 0);
    }

    /**
     * Sets when the kernel probes a silent peer.
     *
     * @param fd a TCP socket
     * @param idle seconds of silence before the first probe, 1 to 32767
     * @param interval seconds between probes, 1 to 32767
     * @param count probes without an answer that end the connection, 1 to 127
     */
    public static void keepAliveTimes(int fd, int idle, int interval, int count) {
        set(fd, linux_h.IPPROTO_TCP, linux_h.TCP_KEEPIDLE, idle);
        set(fd, linux_h.IPPROTO_TCP, linux_h.TCP_KEEPINTVL, interval);
        set(fd, linux_h.IPPROTO_TCP, linux_h.TCP_KEEPCNT, count);
    }

    /**
     * Sets SO_LINGER, by which close handles bytes that are not sent yet.
     *
     * @param fd the socket
     * @param seconds the time for which close waits until they are sent; 0 to drop them and reset the connection; negative to send them
     *     in the background, as without this option
     */
    public static void linger(int fd, int seconds) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(ValueLayout.JAVA_INT, 2);
            value.setAtIndex(ValueLayout.JAVA_INT, 0, seconds < 0 ? 0 : 1);
            value.setAtIndex(ValueLayout.JAVA_INT, 1, Math.max(0, seconds));
            Sockets.setOption(fd, linux_h.SOL_SOCKET, linux_h.SO_LINGER, value);
        }
    }

    /**
     * Sets SO_REUSEADDR, so that a listener may bind the address of connections that have just ended.
     *
     * @param fd the socket
     */
    public static void reuseAddress(int fd) {
        set(fd, linux_h.SOL_SOCKET, linux_h.SO_REUSEADDR, 1);
    }

    /**
     * Sets SO_REUSEPORT, so that several sockets may bind one address.
     *
     * @param fd the socket
     */
    public static void reusePort(int fd) {
        set(fd, linux_h.SOL_SOCKET, linux_h.SO_REUSEPORT, 1);
    }

    /**
     * Sets SO_BROADCAST, so that datagrams may be sent to broadcast addresses.
     *
     * @param fd a datagram socket
     */
    public static void broadcast(int fd) {
        set(fd, linux_h.SOL_SOCKET, linux_h.SO_BROADCAST, 1);
    }

    /**
     * Sets IPV6_V6ONLY.
     *
     * @param fd an IPv6 socket
     * @param only false to serve IPv4 as well
     */
    public static void ipv6Only(int fd, boolean only) {
        set(fd, linux_h.IPPROTO_IPV6, linux_h.IPV6_V6ONLY, only ? 1 : 0);
    }

    /**
     * Sets SO_RCVBUF.
     *
     * @param fd the socket
     * @param bytes the size, which the kernel doubles and limits
     */
    public static void receiveBuffer(int fd, int bytes) {
        set(fd, linux_h.SOL_SOCKET, linux_h.SO_RCVBUF, bytes);
    }

    /**
     * Sets SO_SNDBUF.
     *
     * @param fd the socket
     * @param bytes the size, which the kernel doubles and limits
     */
    public static void sendBuffer(int fd, int bytes) {
        set(fd, linux_h.SOL_SOCKET, linux_h.SO_SNDBUF, bytes);
    }

    private static void set(int fd, int level, int name, int value) {
        Sockets.setOption(fd, level, name, value);
    }
}
