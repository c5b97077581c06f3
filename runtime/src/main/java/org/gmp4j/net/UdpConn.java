package org.gmp4j.net;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.Objects;

import org.gmp4j.ffi.SocketAddresses;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sync.Mutex;

/**
 * A UDP socket ({@code net.UDPConn}): one from {@link #dial} sends to one peer and hears that one alone, one from {@link
 * #listen} speaks with all. A read takes one datagram; what does not fit is lost. A write sends one. Thread-safe: see {@link
 * Conn}.
 */
public final class UdpConn extends Conn {
    private static final long PLACES = 3;

    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final boolean ipv6;
    /** Of the place for senders; who waits for a datagram has it. */
    private final Mutex reading = new Mutex();
    private final Mutex writing = new Mutex();
    /** Collected with this, so no call is late for it. */
    private final MemorySegment places = Arena.ofAuto().allocate(PLACES * SocketAddresses.BYTES, SocketAddresses.BYTES);
    /** The last sender, as in the second place; under {@link #reading}. */
    private InetSocketAddress sender;
    /** The last receiver, as in the third place; under {@link #writing}. */
    private InetSocketAddress receiver;

    UdpConn(PollFd fd, InetSocketAddress local, InetSocketAddress remote, boolean ipv6) {
        super(fd);
        this.local = local;
        this.remote = remote;
        this.ipv6 = ipv6;
    }

    /**
     * Opens a socket for datagrams from anybody.
     *
     * @param address {@code host:port}; {@code :port} for all addresses of this machine, IPv4 and IPv6; port 0 for any that
     *     is free
     * @return the socket
     * @throws IOException as {@link ListenConfig#listenPacket}
     */
    public static UdpConn listen(String address) throws IOException {
        return new ListenConfig().listenPacket(address);
    }

    /**
     * Opens a socket for one peer. Nothing is sent: whether there is one shows later, or never.
     *
     * @param address {@code host:port}
     * @return the socket
     * @throws IOException as {@link Dialer#dialUdp}
     */
    public static UdpConn dial(String address) throws IOException {
        return new Dialer().dialUdp(address);
    }

    @Override
    boolean isStream() {
        return false;
    }

    @Override
    String what() {
        return "udp " + Addresses.text(local) + (remote == null ? "" : "->" + Addresses.text(remote));
    }

    /**
     * The address of this socket.
     *
     * @return the address
     */
    public InetSocketAddress localAddr() {
        return local;
    }

    /**
     * The peer.
     *
     * @return its address; null for one from {@link #listen}
     */
    public InetSocketAddress remoteAddr() {
        return remote;
    }

    private long place(int i) {
        return places.address() + i * SocketAddresses.BYTES;
    }

    /**
     * Takes a datagram, waiting for one. Senders that repeat themselves take no memory.
     *
     * @param to where to; the position moves behind what fitted
     * @return who sent it
     * @throws IOException when the read failed: see the package's description
     */
    public InetSocketAddress readFrom(ByteBuffer to) throws IOException {
        if (to.isReadOnly()) {
            throw new ReadOnlyBufferException();
        }
        InetSocketAddress from = null;
        long r;
        reading.lock();
        try {
            r = fd.receiveFrom(MemorySegment.ofBuffer(to), place(0));
            if (IoResult.error(r) == 0) {
                if (sender == null || !SocketAddresses.same(place(0), place(1))) {
                    sender = SocketAddresses.read(place(0));
                    SocketAddresses.copy(place(0), place(1));
                }
                from = sender;
            }
        } finally {
            reading.unlock();
        }
        if (from == null) {
            throw failed("read", r);
        }
        int unused = to.position(to.position() + (int) IoResult.count(r)).position();
        return from;
    }

    /**
     * Sends a datagram.
     *
     * @param from its bytes, at most 65,507; the position moves behind them
     * @param to a resolved address
     * @return how many bytes
     * @throws IOException when it was not sent: see the package's description
     * @throws IllegalArgumentException when the address is not resolved, or of IPv6 with a socket of IPv4
     * @throws IllegalStateException for a socket from {@link #dial}: its peer is known
     */
    public int writeTo(ByteBuffer from, InetSocketAddress to) throws IOException {
        if (remote != null) {
            throw new IllegalStateException("use of WriteTo with pre-connected connection");
        }
        Objects.requireNonNull(to, "address");
        long r;
        writing.lock();
        try {
            if (!same(to, receiver)) {
                receiver = null;
                SocketAddresses.write(place(2), to, ipv6);
                receiver = to;
            }
            r = fd.sendTo(MemorySegment.ofBuffer(from), place(2));
        } finally {
            writing.unlock();
        }
        return (int) sent(r, from);
    }

    /** Equal, and on the same link: Java's comparison leaves that out. */
    private static boolean same(InetSocketAddress a, InetSocketAddress b) {
        return a.equals(b) && link(a) == link(b);
    }

    private static int link(InetSocketAddress a) {
        return a.getAddress() instanceof Inet6Address ip ? ip.getScopeId() : 0;
    }

    /**
     * Sends a datagram to the peer.
     *
     * @param from its bytes, at most 65,507; the position moves behind them
     * @return how many bytes
     * @throws IOException when it was not sent; for a socket from {@link #listen} as well
     */
    @Override
    public int write(ByteBuffer from) throws IOException {
        return (int) sent(fd.sendTo(MemorySegment.ofBuffer(from), 0), from);
    }

    /**
     * Sends a datagram to the peer.
     *
     * @param from its bytes, at most 65,507
     * @return how many bytes
     * @throws IOException when it was not sent; for a socket from {@link #listen} as well
     */
    @Override
    public long write(MemorySegment from) throws IOException {
        return sent(fd.sendTo(from, 0), null);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
        int unused = Objects.checkFromIndexSize(offset, length, from.length);
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
            int unused = from.position(from.position() + (int) n).position();
        }
        return n;
    }
}
