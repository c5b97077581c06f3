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
 * A TCP connection ({@code net.TCPConn}), from a {@link Dialer} or a {@link TcpListener}. Unless set otherwise, small writes are sent at
 * once, and the kernel probes a silent peer every 15 seconds. Thread-safe: see {@link Conn}.
 */
public final class TcpConn extends Conn implements GatheringByteChannel, ScatteringByteChannel {
    /** The address of this end; null until a thread has read it. All threads write the same value. */
    private volatile @Nullable InetSocketAddress local;
    private final @Nullable InetSocketAddress remote;

    /** Makes a connection. {@code local} is null if the address of this end was not read yet. */
    TcpConn(PollFd fd, @Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) {
        super(fd);
        this.local = local;
        this.remote = remote;
    }

    /**
     * Connects with the settings of a new {@link Dialer}.
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
     * Returns the address of this end.
     *
     * @return the address
     * @throws ClosedException when the connection was closed before the first call
     */
    @SuppressWarnings("NullAway") // The address is set unless a ClosedException is thrown.
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
     * Returns the address of the other end.
     *
     * @return the address; null if the peer had gone before the connection was accepted
     */
    public @Nullable InetSocketAddress remoteAddr() {
        return remote;
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

    /**
     * Sets whether small writes are sent at once (TCP_NODELAY), or wait for more bytes.
     *
     * @param on true, the default, to send at once
     * @throws IOException when the connection is closed
     */
    public void setNoDelay(boolean on) throws IOException {
        use(d -> SocketOptions.noDelay(d, on));
    }

    /**
     * Sets whether the kernel probes a silent peer, and ends the connection if the peer does not answer.
     *
     * @param on true to probe
     * @throws IOException when the connection is closed
     */
    public void setKeepAlive(boolean on) throws IOException {
        use(d -> SocketOptions.keepAlive(d, on));
    }

    /**
     * Makes the kernel probe a silent peer.
     *
     * @param idle the silence before the first probe, 1 s to 32,767 s; parts of seconds do not count
     * @param interval the time between probes, in the same range
     * @param count the number of unanswered probes after which the connection ends, 1 to 127
     * @throws IOException when it is closed, or a value is out of its range
     */
    public void setKeepAlive(Duration idle, Duration interval, int count) throws IOException {
        use(d -> {
            SocketOptions.keepAlive(d, true);
            SocketOptions.keepAliveTimes(d, seconds(idle), seconds(interval), count);
        });
    }

    /** Converts seconds to an int. A number that does not fit is out of the kernel's range as well. */
    private static int seconds(Duration d) {
        return Math.clamp(d.toSeconds(), -1, Integer.MAX_VALUE);
    }

    /**
     * Sets what happens at {@code close} to bytes that are not sent yet.
     *
     * @param seconds negative, the default: the bytes are sent in the background; 0: they are dropped, and the connection is reset;
     *     positive: close waits up to that time for them, and blocks its thread
     * @throws IOException when the connection is closed
     */
    public void setLinger(int seconds) throws IOException {
        use(d -> SocketOptions.linger(d, seconds));
    }

    /**
     * Sets the size of the kernel's receive buffer.
     *
     * @param bytes the size in bytes, positive; the kernel doubles it, within its limits
     * @throws IOException when the connection is closed
     * @throws IllegalArgumentException when {@code bytes} is 0 or negative
     */
    public void setReadBuffer(int bytes) throws IOException {
        int n = size(bytes);
        use(d -> SocketOptions.receiveBuffer(d, n));
    }

    /**
     * Sets the size of the kernel's send buffer.
     *
     * @param bytes the size in bytes, positive; the kernel doubles it, within its limits
     * @throws IOException when the connection is closed
     * @throws IllegalArgumentException when {@code bytes} is 0 or negative
     */
    public void setWriteBuffer(int bytes) throws IOException {
        int n = size(bytes);
        use(d -> SocketOptions.sendBuffer(d, n));
    }
}
