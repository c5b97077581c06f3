// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;

import org.gmp4j.Cancelable;
import org.gmp4j.ffi.SocketAddresses;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sched.GStack;
import org.gmp4j.sync.Mutex;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;
import org.jspecify.annotations.Nullable;

/**
 * A socket for datagrams ({@code net.PacketConn}). A read receives one datagram, and bytes that do not fit into the buffer are lost. A
 * write sends one datagram. Thread-safe: see {@link Conn}.
 *
 * @param <A> the type of its addresses
 */
public abstract sealed class DatagramConn<A> extends Conn permits UdpConn, UnixgramConn {
    // Indices of the addresses in places:
    private static final int LAST_SENDER = 0;
    private static final int LAST_DECODED = 1;
    private static final int LAST_RECEIVER = 2;
    /** The number of addresses for which {@link #places} has room. */
    private static final long PLACES = 3;

    /** The peer's address; null for a socket that exchanges datagrams with any. */
    final @Nullable A remote;
    /** Guards the first two places and {@link #sender}. A reader holds it while it waits for a datagram. */
    private final Mutex reading = new Mutex();
    /** Guards the third place and {@link #receiver}. */
    private final Mutex writing = new Mutex();
    /**
     * Memory for three addresses: the sender of the last datagram, the address that was last decoded, and the last receiver. The memory is
     * freed only when this object is collected, so no call uses freed memory.
     */
    private final MemorySegment places = Arena.ofAuto().allocate(PLACES * SocketAddresses.BYTES, Long.BYTES);
    /** The sender whose address is in the second place; null for none, or for a sender without an address. Guarded by {@link #reading}. */
    private @Nullable A sender;
    /** The receiver whose address is in the third place. Guarded by {@link #writing}. */
    private @Nullable A receiver;

    DatagramConn(PollFd fd, @Nullable A remote) {
        super(fd);
        this.remote = remote;
    }

    /** Writes an address to a place, or throws an exception if it is not suitable. */
    abstract void encode(long place, A address);

    /** Returns the address at a place, or null when the sender has none. */
    abstract A decode(long place);

    /** Returns whether two addresses mean the same receiver. Neither is null. */
    abstract boolean same(A a, A b);

    /** Returns whether {@link #writeTo} waits when there is no room for the datagram. */
    abstract boolean waitsForReceiver();

    @Override
    final boolean isStream() {
        return false;
    }

    private long place(int i) {
        return places.address() + i * SocketAddresses.BYTES;
    }

    /**
     * Receives a datagram. If there is none, it waits for one. It allocates nothing if the datagram has the same sender as the last one.
     *
     * @param to the buffer; the position moves behind the bytes that fitted
     * @return the sender's address; null for a Unix socket without a name
     * @throws IOException when the read failed: see the package's description
     */
    public @Nullable A readFrom(ByteBuffer to) throws IOException {
        return readFrom(to, Limits.DEFAULT);
    }

    /**
     * Like {@link #readFrom(ByteBuffer)}, this receives a datagram, but an interrupt ends the wait, on every kind of thread.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #readFrom(ByteBuffer)}
     */
    public @Nullable A readFromInterruptibly(ByteBuffer to) throws IOException, InterruptedException {
        return readFrom(to, Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #readFrom(ByteBuffer)}, this receives a datagram, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     * @throws IOException as {@link #readFrom(ByteBuffer)}
     */
    public @Nullable A readFromUnless(Cancelable ctx, ByteBuffer to) throws IOException {
        return readFrom(to, Limits.until(ctx));
    }

    /**
     * Like {@link #readFrom(ByteBuffer)}, this receives a datagram, but waits for {@code d} at most. If {@code d} is zero or less, it does
     * not wait. A deadline also ends the wait.
     *
     * @throws java.net.SocketTimeoutException when the time was up
     * @throws IOException as {@link #readFrom(ByteBuffer)}
     */
    public @Nullable A readFromWithin(ByteBuffer to, Duration d) throws IOException {
        return readFrom(to, Limits.within(d));
    }

    private @Nullable A readFrom(ByteBuffer to, Limits limits) throws IOException {
        limits.check();
        writable(to);
        A from;
        long r;
        if (taken(reading, limits)) {
            try {
                r = fd.receiveFrom(MemorySegment.ofBuffer(to), place(LAST_SENDER), limits);
                from = IoResult.error(r) == 0 ? sender() : null;
            } finally {
                reading.unlock();
            }
        } else {
            try (Arena own = Arena.ofConfined()) {
                long at = place(own);
                r = fd.receiveFrom(MemorySegment.ofBuffer(to), at, limits);
                from = IoResult.error(r) == 0 ? decode(at) : null;
            }
        }
        if (IoResult.error(r) != 0) {
            throw failed("read", r, limits);
        }
        int _ = to.position(to.position() + (int) IoResult.count(r)).position();
        return from;
    }

    /** Returns the address in the first place. The caller holds {@link #reading}. */
    private A sender() {
        if (sender == null || !SocketAddresses.same(place(LAST_SENDER), place(LAST_DECODED))) {
            sender = decode(place(LAST_SENDER));
            SocketAddresses.copy(place(LAST_SENDER), place(LAST_DECODED));
        }
        return sender;
    }

    /**
     * Takes a lock that other threads hold while they wait for the socket. If an interrupt or a limit may end the caller's wait, this does
     * not wait for the lock, and returns false when another thread has it. Then the caller uses memory of its own for the address, and its
     * wait for the socket can end early.
     */
    private static boolean taken(Mutex m, Limits limits) {
        if (m.tryLock()) {
            return true;
        }
        if (limits != Limits.DEFAULT || WaitCancellation.byDefault(GStack.current())) {
            return false;
        }
        m.lock();
        return true;
    }

    private static long place(Arena own) {
        return own.allocate(SocketAddresses.BYTES, Long.BYTES).address();
    }

    /**
     * Sends a datagram.
     *
     * @param from the bytes, by UDP at most 65,507; the position moves behind them
     * @param to the receiver: by UDP a resolved address, which may be a broadcast address; for a Unix socket its name
     * @return the number of bytes
     * @throws IOException when the datagram was not sent: see the package's description; also when the receiver is a Unix socket without
     *     room
     * @throws IllegalArgumentException when {@code to} is no such address, or an IPv6 address for a socket of IPv4
     * @throws IllegalStateException for a socket that has one peer
     */
    public int writeTo(ByteBuffer from, A to) throws IOException {
        return writeTo(from, to, Limits.DEFAULT);
    }

    /**
     * Like {@link #writeTo(ByteBuffer, Object)}, this sends a datagram, but an interrupt ends the wait, on every kind of thread.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #writeTo(ByteBuffer, Object)}
     */
    public int writeToInterruptibly(ByteBuffer from, A to) throws IOException, InterruptedException {
        return writeTo(from, to, Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #writeTo(ByteBuffer, Object)}, this sends a datagram, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     * @throws IOException as {@link #writeTo(ByteBuffer, Object)}
     */
    public int writeToUnless(Cancelable ctx, ByteBuffer from, A to) throws IOException {
        return writeTo(from, to, Limits.until(ctx));
    }

    /**
     * Like {@link #writeTo(ByteBuffer, Object)}, this sends a datagram, but waits for {@code d} at most. If {@code d} is zero or less, it
     * does not wait. A deadline also ends the wait.
     *
     * @throws java.net.SocketTimeoutException when the time was up
     * @throws IOException as {@link #writeTo(ByteBuffer, Object)}
     */
    public int writeToWithin(ByteBuffer from, A to, Duration d) throws IOException {
        return writeTo(from, to, Limits.within(d));
    }

    private int writeTo(ByteBuffer from, A to, Limits limits) throws IOException {
        limits.check();
        if (remote != null) {
            throw new IllegalStateException("use of WriteTo with pre-connected connection");
        }
        Objects.requireNonNull(to, "address");
        long r;
        if (taken(writing, limits)) {
            try {
                if (receiver == null || !same(to, receiver)) {
                    receiver = null;
                    encode(place(LAST_RECEIVER), to);
                    receiver = to;
                }
                r = fd.sendTo(MemorySegment.ofBuffer(from), place(LAST_RECEIVER), waitsForReceiver(), limits);
            } finally {
                writing.unlock();
            }
        } else {
            try (Arena own = Arena.ofConfined()) {
                long at = place(own);
                encode(at, to);
                r = fd.sendTo(MemorySegment.ofBuffer(from), at, waitsForReceiver(), limits);
            }
        }
        return sent(r, from, limits);
    }

    /**
     * Sends a datagram to the peer.
     *
     * @param from the bytes, by UDP at most 65,507; the position moves behind them
     * @return the number of bytes
     * @throws IOException when the datagram was not sent, also for a socket without a peer
     */
    @Override
    public int write(ByteBuffer from) throws IOException {
        return write(from, Limits.DEFAULT);
    }

    @Override
    int write(ByteBuffer from, Limits limits) throws IOException {
        limits.check();
        return sent(fd.sendTo(MemorySegment.ofBuffer(from), 0, true, limits), from, limits);
    }

    /**
     * Sends a datagram to the peer.
     *
     * @param from the bytes, by UDP at most 65,507
     * @return the number of bytes
     * @throws IOException when the datagram was not sent, also for a socket without a peer
     */
    @Override
    public long write(MemorySegment from) throws IOException {
        return written(fd.sendTo(from, 0, true, Limits.DEFAULT), Limits.DEFAULT);
    }

    /**
     * Sends a datagram to the peer, made of several pieces.
     *
     * @throws IllegalArgumentException for more than 8 pieces
     */
    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        checkPieces(length);
        return super.write(from, offset, length);
    }

    /**
     * Sends a datagram to the peer, made of several pieces.
     *
     * @throws IllegalArgumentException for more than 8 pieces
     */
    @Override
    public long write(MemorySegment[] from) throws IOException {
        checkPieces(from.length);
        return super.write(from);
    }

    /**
     * Receives a datagram into several pieces. If there is none, it waits for one.
     *
     * @throws IllegalArgumentException for more than 8 pieces
     */
    @Override
    public long read(ByteBuffer[] to, int offset, int length) throws IOException {
        checkPieces(length);
        return super.read(to, offset, length);
    }

    /**
     * Receives a datagram into several pieces. If there is none, it waits for one.
     *
     * @throws IllegalArgumentException for more than 8 pieces
     */
    @Override
    public long read(MemorySegment[] to) throws IOException {
        checkPieces(to.length);
        return super.read(to);
    }

    @Override
    final long readSome(MemorySegment to, Limits limits) {
        return fd.receive(to, limits);
    }

    @Override
    final long readSome(MemorySegment[] to, int n) {
        return fd.receive(to, n);
    }

    @Override
    final long writeAll(MemorySegment[] from) {
        return from.length == 0 ? super.writeAll(from) : fd.send(from);
    }

    private static void checkPieces(int pieces) {
        if (pieces > SocketIo.PIECES) {
            throw new IllegalArgumentException("a datagram is made of at most " + SocketIo.PIECES + " pieces: " + pieces);
        }
    }

    private int sent(long r, ByteBuffer from, Limits limits) throws IOException {
        int n = (int) written(r, limits);
        int _ = from.position(from.position() + n).position();
        return n;
    }
}
