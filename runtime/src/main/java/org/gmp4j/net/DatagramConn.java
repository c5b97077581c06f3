// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Objects;

import org.gmp4j.ffi.SocketAddresses;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sync.Mutex;

/**
 * A socket for datagrams ({@code net.PacketConn}). A read takes one datagram; what does not fit is lost. A write sends one.
 * Thread-safe: see {@link Conn}.
 *
 * @param <A> what an address is
 */
public abstract sealed class DatagramConn<A> extends Conn permits UdpConn, UnixgramConn {
    private static final long PLACES = 3;

    /** Of the place for senders; who waits for a datagram has it. */
    private final Mutex reading = new Mutex();
    private final Mutex writing = new Mutex();
    /** Collected with this, so no call is late for it. */
    private final MemorySegment places = Arena.ofAuto().allocate(PLACES * SocketAddresses.BYTES, Long.BYTES);
    /** The last sender, as in the second place; null for none, or one without an address. Under {@link #reading}. */
    private A sender;
    /** The last receiver, as in the third place; under {@link #writing}. */
    private A receiver;

    DatagramConn(PollFd fd) {
        super(fd);
    }

    /** Whether it has one peer. */
    abstract boolean isConnected();

    /** Writes an address to a place, or refuses it. */
    abstract void encode(long place, A address);

    /** The address at a place; null when the sender has none. */
    abstract A decode(long place);

    /** Whether two addresses are one receiver; neither is null. */
    abstract boolean same(A a, A b);

    /** Whether {@link #writeTo} waits for room. */
    abstract boolean waitsForReceiver();

    @Override
    final boolean isStream() {
        return false;
    }

    private long place(int i) {
        return places.address() + i * SocketAddresses.BYTES;
    }

    /**
     * Takes a datagram, waiting for one. Senders that repeat themselves take no memory.
     *
     * @param to where to; the position moves behind what fitted
     * @return who sent it; null for a Unix socket without a name
     * @throws IOException when the read failed: see the package's description
     */
    public A readFrom(ByteBuffer to) throws IOException {
        if (to.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        A from = null;
        long r;
        reading.lock();
        try {
            r = fd.receiveFrom(MemorySegment.ofBuffer(to), place(0));
            if (IoResult.error(r) == 0) {
                if (sender == null || !SocketAddresses.same(place(0), place(1))) {
                    sender = decode(place(0));
                    SocketAddresses.copy(place(0), place(1));
                }
                from = sender;
            }
        } finally {
            reading.unlock();
        }
        if (IoResult.error(r) != 0) {
            throw failed("read", r);
        }
        int _ = to.position(to.position() + (int) IoResult.count(r)).position();
        return from;
    }

    /**
     * Sends a datagram.
     *
     * @param from its bytes, by UDP at most 65,507; the position moves behind them
     * @param to the receiver: by UDP a resolved address, which may be one of all on a link; of a Unix socket its name
     * @return how many bytes
     * @throws IOException when it was not sent: see the package's description; when the receiver, a Unix socket, has no room
     *     just now
     * @throws IllegalArgumentException when it is no such address, or of IPv6 with a socket of IPv4
     * @throws IllegalStateException for a socket that has one peer
     */
    public int writeTo(ByteBuffer from, A to) throws IOException {
        if (isConnected()) {
            throw new IllegalStateException("use of WriteTo with pre-connected connection");
        }
        Objects.requireNonNull(to, "address");
        long r;
        writing.lock();
        try {
            if (receiver == null || !same(to, receiver)) {
                receiver = null;
                encode(place(2), to);
                receiver = to;
            }
            r = fd.sendTo(MemorySegment.ofBuffer(from), place(2), waitsForReceiver());
        } finally {
            writing.unlock();
        }
        return (int) sent(r, from);
    }

    /**
     * Sends a datagram to the peer.
     *
     * @param from its bytes, by UDP at most 65,507; the position moves behind them
     * @return how many bytes
     * @throws IOException when it was not sent; for a socket without a peer as well
     */
    @Override
    public int write(ByteBuffer from) throws IOException {
        return (int) sent(fd.sendTo(MemorySegment.ofBuffer(from), 0, true), from);
    }

    /**
     * Sends a datagram to the peer.
     *
     * @param from its bytes, by UDP at most 65,507
     * @return how many bytes
     * @throws IOException when it was not sent; for a socket without a peer as well
     */
    @Override
    public long write(MemorySegment from) throws IOException {
        return sent(fd.sendTo(from, 0, true), null);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
        int _ = Objects.checkFromIndexSize(offset, length, from.length);
        long n = write(MemorySegment.ofArray(from).asSlice(offset, length));
    }

    /**
     * Sends a datagram to the peer, made of several pieces.
     *
     * @throws IllegalArgumentException for more than 8 pieces
     */
    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        few(length);
        return super.write(from, offset, length);
    }

    /**
     * Sends a datagram to the peer, made of several pieces.
     *
     * @throws IllegalArgumentException for more than 8 pieces
     */
    @Override
    public long write(MemorySegment[] from) throws IOException {
        few(from.length);
        return super.write(from);
    }

    /**
     * Takes a datagram into several pieces, waiting for one.
     *
     * @throws IllegalArgumentException for more than 8 pieces
     */
    @Override
    public long read(ByteBuffer[] to, int offset, int length) throws IOException {
        few(length);
        return super.read(to, offset, length);
    }

    /**
     * Takes a datagram into several pieces, waiting for one.
     *
     * @throws IllegalArgumentException for more than 8 pieces
     */
    @Override
    public long read(MemorySegment[] to) throws IOException {
        few(to.length);
        return super.read(to);
    }

    private static void few(int pieces) {
        if (pieces > SocketIo.PIECES) {
            throw new IllegalArgumentException("a datagram is made of at most " + SocketIo.PIECES + " pieces: " + pieces);
        }
    }

    private long sent(long r, ByteBuffer from) throws IOException {
        if (IoResult.error(r) != 0) {
            throw failed("write", r);
        }
        long n = IoResult.count(r);
        if (from != null) {
            int _ = from.position(from.position() + (int) n).position();
        }
        return n;
    }
}
