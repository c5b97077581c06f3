package org.gmp4j.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.BooleanSupplier;

import org.gmp4j.context.Context;
import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.SocketOptions;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.ffi.UnixSockets;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.proc.GStack;

/**
 * How to connect ({@code net.Dialer}). Set it up, then dial as often as wanted. Of a name's addresses one is tried after the
 * other, each with its share of the time. Not thread-safe while it is set up.
 */
public final class Dialer {
    /** The least share of an address in the time, where there is so much. */
    private static final long LEAST_SHARE = 2_000_000_000L;

    private Duration timeout;
    private Instant deadline;
    private InetSocketAddress localAddr;
    private int keepAlive = ListenConfig.KEEP_ALIVE_SECONDS;

    /** The usual settings. */
    public Dialer() {
    }

    /**
     * How long a dial may take, the look-up of the name with it.
     *
     * @param d how long; null for as long as the kernel tries, some 2 minutes
     * @return this
     */
    public Dialer timeout(Duration d) {
        timeout = d;
        return this;
    }

    /**
     * Until when a dial has time; with a {@link #timeout} the earlier of the two.
     *
     * @param at when, by the clock; null for no deadline
     * @return this
     */
    public Dialer deadline(Instant at) {
        deadline = at;
        return this;
    }

    /**
     * The address of this end.
     *
     * @param local a resolved address; port 0 for any that is free; null for what the kernel chooses
     * @return this
     */
    public Dialer localAddr(InetSocketAddress local) {
        localAddr = local;
        return this;
    }

    /**
     * When a silent peer is probed.
     *
     * @param d 1 s to 32,767 s, 15 s in the beginning; null or zero for never
     * @return this
     * @throws IllegalArgumentException when it is out of that range
     */
    public Dialer keepAlive(Duration d) {
        keepAlive = ListenConfig.keepAliveSeconds(d);
        return this;
    }

    /**
     * Connects by TCP.
     *
     * @param address {@code host:port}; without a host this machine
     * @return the connection
     * @throws java.net.SocketTimeoutException when the time is up
     * @throws ConnectException when the other side refused, or cannot be reached
     * @throws ExhaustedException when there are no descriptors, or no memory
     * @throws IOException when it failed in another way; an unknown host
     * @throws IllegalArgumentException when the address has another form
     */
    public TcpConn dial(String address) throws IOException {
        return dial(Context.background(), address);
    }

    /**
     * Connects by TCP, until {@code ctx} is cancelled or its deadline has passed. Afterwards it has no power over the
     * connection.
     *
     * @param ctx who may end it
     * @param address as for {@link #dial(String)}
     * @return the connection
     * @throws InterruptedIOException "operation was canceled", with the context's cause; or as {@link #dial(String)}
     * @throws IOException as {@link #dial(String)}
     */
    public TcpConn dial(Context ctx, String address) throws IOException {
        Addresses.HostPort hp = Addresses.parse(address);
        String what = "tcp " + address;
        long end = end(ctx);
        refuse(ctx, end, what);
        InetAddress[] all = addresses(hp, end, ctx, what);
        IOException first = null;
        for (int i = 0; i < all.length; i++) {
            try {
                return dial(ctx, new InetSocketAddress(all[i], hp.port()), share(end, all.length - i));
            } catch (ConnectException | java.net.SocketTimeoutException e) {
                first = first == null ? e : first;
                if (left(end) <= 0 || ctx.err() != null) {
                    break;
                }
            }
        }
        throw first;
    }

    /**
     * The same to an address that is known.
     *
     * @param ctx who may end it
     * @param address a resolved address
     * @return the connection
     * @throws IOException as {@link #dial(Context, String)}
     */
    public TcpConn dial(Context ctx, InetSocketAddress address) throws IOException {
        long end = end(ctx);
        refuse(ctx, end, "tcp " + Addresses.text(address));
        return dial(ctx, address, end);
    }

    private static InetAddress[] addresses(Addresses.HostPort hp, long end, Context ctx, String what) throws IOException {
        if (hp.host().isEmpty()) {
            return new InetAddress[] {InetAddress.getLoopbackAddress()};
        }
        InetAddress literal = hp.literal();
        return literal != null ? new InetAddress[] {literal} : Lookup.all(hp.host(), left(end), ctx, what);
    }

    private static void refuse(Context ctx, long end, String what) throws IOException {
        if (ctx.err() == Context.CANCELED) {
            throw canceled(ctx, what);
        }
        if (left(end) <= 0) {
            throw Errors.of("dial", what, IoResult.TIMED_OUT, 0);
        }
    }

    static IOException canceled(Context ctx, String what) {
        if (ctx.err() == Context.DEADLINE_EXCEEDED) {
            return Errors.of("dial", what, IoResult.TIMED_OUT, 0);
        }
        IOException e = new InterruptedIOException("dial " + what + ": operation was canceled");
        Throwable unused = e.initCause(ctx.cause());
        return e;
    }

    /** The nanoTime when the time is up. */
    private long end(Context ctx) {
        long left = Math.min(Deadlines.left(timeout), Math.min(Deadlines.left(deadline), Deadlines.left(ctx.deadline())));
        return left == PollFd.NO_LIMIT ? left : Math.min(PollFd.NO_LIMIT - 1, saturated(System.nanoTime(), left));
    }

    private static long saturated(long now, long left) {
        long end = now + Math.max(left, 0);
        return end < now ? PollFd.NO_LIMIT - 1 : end;
    }

    private static long left(long end) {
        return end == PollFd.NO_LIMIT ? end : end - System.nanoTime();
    }

    /** When the time is up of the next of so many addresses. */
    private static long share(long end, int addresses) {
        long left = left(end);
        return left == PollFd.NO_LIMIT || addresses == 1 ? end
                : end - left + Math.min(left, Math.max(LEAST_SHARE, left / addresses));
    }

    private TcpConn dial(Context ctx, InetSocketAddress to, long end) throws IOException {
        Objects.requireNonNull(to.getAddress(), () -> "unresolved address " + to);
        String what = "tcp " + Addresses.text(to);
        Errors.load();
        GStack.checkAll(); // No descriptor is made that there is no room to close.
        int d = -1;
        PollFd fd = null;
        TcpConn c = null;
        try {
            d = Sockets.tcp(Addresses.isIpv6(to));
            fd = new PollFd(d);
            ListenConfig.options(d, keepAlive);
            if (localAddr != null) {
                Sockets.bind(d, localAddr);
            }
            int e = Sockets.connect(d, to);
            if (e == Errno.EINPROGRESS || e == Errno.EINTR) {
                e = await(ctx, fd, end);
                if (e == IoResult.TIMED_OUT && ctx.err() != null) {
                    throw canceled(ctx, what);
                }
            }
            if (e != 0) {
                throw Errors.of("dial", what, e, 0);
            }
            boolean unused = fd.setDeadline(PollFd.NO_LIMIT, false, true);
            InetSocketAddress here = Sockets.localAddress(d);
            if ((localAddr == null || localAddr.getPort() == 0) && isSelf(here, to)) {
                SocketOptions.linger(d, 0); // Or nobody could listen there for a minute.
                throw Errors.of("dial", what, Errno.ECONNREFUSED, 0);
            }
            c = new TcpConn(fd, here, to);
            return c;
        } catch (NativeException e) {
            throw Errors.of("dial", what, e);
        } finally {
            if (c == null && fd != null) {
                boolean unused = fd.close();
            } else if (c == null && d >= 0) {
                Fd.release(d);
            }
        }
    }

    /**
     * {@code selfConnect}: whether the port that the kernel chose for this end is the one that was dialled, so that TCP has
     * connected the socket with itself. That happens only where nobody listens.
     */
    private static boolean isSelf(InetSocketAddress here, InetSocketAddress to) {
        return here.getPort() == to.getPort()
                && (to.getAddress().isAnyLocalAddress() || to.getAddress().equals(here.getAddress()));
    }

    /** Waits for the connect; a context that is cancelled takes the time from it. */
    private static int await(Context ctx, PollFd fd, long end) {
        boolean open = fd.setDeadline(left(end), false, true);
        BooleanSupplier stop = ctx.done() == null ? () -> true : ctx.afterFunc(() -> {
            boolean unused = fd.setDeadline(0, false, true);
        });
        int e = IoResult.TIMED_OUT;
        try {
            e = fd.awaitConnected();
        } finally {
            if (!stop.getAsBoolean() && e == 0) {
                e = IoResult.TIMED_OUT; // That function may still be about to set the deadline.
            }
        }
        return e;
    }

    /**
     * Opens a UDP socket for one peer.
     *
     * @param address {@code host:port}; of a name its first address
     * @return the socket
     * @throws IOException when there is no way there, or the host is unknown; {@link ExhaustedException}
     */
    public UdpConn dialUdp(String address) throws IOException {
        Addresses.HostPort hp = Addresses.parse(address);
        Context ctx = Context.background();
        InetSocketAddress to = new InetSocketAddress(addresses(hp, end(ctx), ctx, "udp " + address)[0], hp.port());
        String what = "udp " + Addresses.text(to);
        Errors.load();
        GStack.checkAll();
        int d = -1;
        UdpConn c = null;
        try {
            d = Sockets.udp(Addresses.isIpv6(to));
            if (localAddr != null) {
                Sockets.bind(d, localAddr);
            }
            int e = Sockets.connect(d, to);
            if (e != 0) {
                throw Errors.of("dial", what, e, 0);
            }
            c = new UdpConn(new PollFd(d), Sockets.localAddress(d), to, Addresses.isIpv6(to));
            return c;
        } catch (NativeException e) {
            throw Errors.of("dial", what, e);
        } finally {
            if (c == null && d >= 0) {
                Fd.release(d);
            }
        }
    }

    /**
     * Connects in the Unix domain. It never waits: when the listener has as many as it lets wait, that is an error.
     *
     * @param path the listener's path, or its name with {@code @}
     * @return the connection
     * @throws IOException when nobody listens there; {@link ExhaustedException}
     * @throws IllegalArgumentException when the path is empty, too long, or has a NUL
     */
    public UnixConn dialUnix(String path) throws IOException {
        Errors.load();
        GStack.checkAll();
        int d = -1;
        UnixConn c = null;
        try {
            d = UnixSockets.stream();
            int e = UnixSockets.connect(d, path);
            if (e != 0) {
                throw Errors.of("dial", "unix " + path, e, 0);
            }
            c = new UnixConn(new PollFd(d), path);
            return c;
        } catch (NativeException e) {
            throw Errors.of("dial", "unix " + path, e);
        } finally {
            if (c == null && d >= 0) {
                Fd.release(d);
            }
        }
    }
}
