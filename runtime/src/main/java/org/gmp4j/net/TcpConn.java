// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.time.Duration;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.SocketOptions;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.netpoll.PollFd;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection ({@code net.TCPConn}), from a {@link Dialer} or a {@link TcpListener}. Small writes go out at once, and a
 * silent peer is probed each 15 seconds, unless set otherwise. Thread-safe: see {@link Conn}.
 */
public final class TcpConn extends Conn implements GatheringByteChannel, ScatteringByteChannel {
    /** Written by the thread that asks first, always the same; null until then. */
    private volatile @Nullable InetSocketAddress local;
    private final @Nullable InetSocketAddress remote;

    /** {@code local} is null where nobody has asked for it yet. */
    TcpConn(PollFd fd, @Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) {
        super(fd);
        this.local = local;
        this.remote = remote;
    }

    /**
     * Connects with the settings of a new {@link Dialer}.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param address {@code host:port}
     * @return the connection
     * @throws IOException as {@link Dialer#dial(String)}
     */
    public static TcpConn dial(String address) throws IOException {
        return new Dialer().dial(address);
    }

    @Override
    boolean isStream() {
        return true;
    }

    @Override
    String what() {
        InetSocketAddress here;
        try {
            here = localAddr();
        } catch (IOException closed) {
            here = local;
        }
        return "tcp " + Addresses.text(here) + "->" + Addresses.text(remote);
    }

    /**
     * The address of this end.
     *
     * @return the address
     * @throws ClosedException when it was closed before anybody asked
     */
    @SuppressWarnings("NullAway") // Whoever got past the ClosedException has it.
    public InetSocketAddress localAddr() throws IOException {
        if (local == null) {
            boolean open;
            try {
                open = fd.use(d -> local = Sockets.localAddress(d));
            } catch (NativeException e) {
                throw Errors.of("get", "tcp ?->" + Addresses.text(remote), e);
            }
            if (!open) {
                throw new ClosedException("get tcp ?->" + Addresses.text(remote) + ": use of closed network connection");
            }
        }
        return local;
    }

    /**
     * The address of the other end.
     *
     * @return the address; null if the peer had gone before the connection was accepted
     */
    public @Nullable InetSocketAddress remoteAddr() {
        return remote;
    }

    /**
     * Ends reading: reads return what has come and then -1; those that wait return at once. Writing goes on.
     *
     * @throws IOException when it is closed, or the peer has gone
     */
    public void closeRead() throws IOException {
        shutdown(Sockets.SHUT_RD);
    }

    /**
     * Ends writing: the peer reads what was written, and then the end. Reading goes on.
     *
     * @throws IOException when it is closed, or the peer has gone
     */
    public void closeWrite() throws IOException {
        shutdown(Sockets.SHUT_WR);
    }

    /**
     * Whether small writes go out at once (TCP_NODELAY), or wait for more. True in the beginning.
     *
     * @param on whether
     * @throws IOException when it is closed
     */
    public void setNoDelay(boolean on) throws IOException {
        use(d -> SocketOptions.noDelay(d, on));
    }

    /**
     * Whether the kernel probes a silent peer, and ends the connection of one that does not answer.
     *
     * @param on whether
     * @throws IOException when it is closed
     */
    public void setKeepAlive(boolean on) throws IOException {
        use(d -> SocketOptions.keepAlive(d, on));
    }

    /**
     * Has the kernel probe a silent peer.
     *
     * @param idle the silence before the first probe, 1 s to 32,767 s; parts of seconds do not count
     * @param interval between probes, in the same range
     * @param count how many without an answer end the connection, 1 to 127
     * @throws IOException when it is closed, or a value is out of its range
     */
    public void setKeepAlive(Duration idle, Duration interval, int count) throws IOException {
        use(d -> {
            SocketOptions.keepAlive(d, true);
            SocketOptions.keepAliveTimes(d, seconds(idle), seconds(interval), count);
        });
    }

    /** A number that does not fit an int is out of the kernel's range as well. */
    private static int seconds(Duration d) {
        return Math.clamp(d.toSeconds(), -1, Integer.MAX_VALUE);
    }

    /**
     * What {@code close} does with bytes that are not sent yet.
     *
     * @param seconds negative, as in the beginning: they are sent in the background; 0: they are dropped, and the connection is
     *     reset; more: close waits so long for them, and its thread with it
     * @throws IOException when it is closed
     */
    public void setLinger(int seconds) throws IOException {
        use(d -> SocketOptions.linger(d, seconds));
    }

    /**
     * The kernel's buffer for what comes in.
     *
     * @param bytes how large, positive; the kernel doubles it and has its limits
     * @throws IOException when it is closed
     * @throws IllegalArgumentException when it is 0 or negative
     */
    public void setReadBuffer(int bytes) throws IOException {
        int n = size(bytes);
        use(d -> SocketOptions.receiveBuffer(d, n));
    }

    /**
     * The kernel's buffer for what goes out.
     *
     * @param bytes how large, positive; the kernel doubles it and has its limits
     * @throws IOException when it is closed
     * @throws IllegalArgumentException when it is 0 or negative
     */
    public void setWriteBuffer(int bytes) throws IOException {
        int n = size(bytes);
        use(d -> SocketOptions.sendBuffer(d, n));
    }
}
