// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;

import org.gmp4j.context.Context;
import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.SocketOptions;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.ffi.UnixSockets;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sched.GStack;
import org.jspecify.annotations.Nullable;

/**
 * The settings of connections ({@code net.Dialer}), for any number of dials. If a name has several addresses, they are tried one after the
 * other, each with its share of the time. If a name has both IPv4 and IPv6 addresses, the family of the first address is tried first. When
 * that family has failed, the other family is tried. If the first family has not connected after {@link #fallbackDelay}, the other family
 * is tried at the same time, and the first connection wins. Not thread-safe while it is set up.
 *
 * <p>Source: Go's {@code dialParallel}; RFC 8305, "Happy Eyeballs".
 */
public final class Dialer {
    /** The least share of the time that an address gets, ns. If less time is left, the address gets all of that. */
    private static final long LEAST_SHARE = 2_000_000_000L;

    private static final Duration FALLBACK_DELAY = Duration.ofMillis(300);

    private @Nullable Duration fallbackDelay = FALLBACK_DELAY;
    private @Nullable Duration timeout;
    private @Nullable Instant deadline;
    private @Nullable InetSocketAddress localAddr;
    private int keepAlive = ListenConfig.KEEP_ALIVE_SECONDS;

    /** Makes the default settings. */
    public Dialer() {
    }

    /**
     * Sets how long a dial may take, including the look-up of the name.
     *
     * @param d the time; null for as long as the kernel tries, some 2 minutes
     * @return this
     */
    public Dialer timeout(@Nullable Duration d) {
        timeout = d;
        return this;
    }

    /**
     * Sets the deadline of a dial. If there is a {@link #timeout}, too, the earlier of the two counts.
     *
     * @param at the time, by the clock; null for no deadline
     * @return this
     */
    public Dialer deadline(@Nullable Instant at) {
        deadline = at;
        return this;
    }

    /**
     * Sets how long the addresses of a name's first family are tried alone, before the other family is tried as well.
     *
     * @param d the time, 300 ms by default; null to try one address after the other
     * @return this
     * @throws IllegalArgumentException when {@code d} is negative
     */
    public Dialer fallbackDelay(@Nullable Duration d) {
        if (d != null && d.isNegative()) {
            throw new IllegalArgumentException("the fallback delay is " + d + ": use zero or more, or null for no fallback");
        }
        fallbackDelay = d;
        return this;
    }

    /**
     * Sets the address of this end.
     *
     * @param local a resolved address; port 0 for a free port; null for an address that the kernel chooses
     * @return this
     */
    public Dialer localAddr(@Nullable InetSocketAddress local) {
        localAddr = local;
        return this;
    }

    /**
     * Sets how long a peer is silent before the kernel probes it.
     *
     * @param d 1 s to 32,767 s, 15 s by default; null or zero for never
     * @return this
     * @throws IllegalArgumentException when {@code d} is out of that range
     */
    public Dialer keepAlive(@Nullable Duration d) {
        keepAlive = ListenConfig.keepAliveSeconds(d);
        return this;
    }

    /**
     * Connects by TCP.
     *
     * @param address {@code host:port}; an empty host means this machine
     * @return the connection
     * @throws java.net.SocketTimeoutException when the time is up
     * @throws ConnectException when the other side refused, or cannot be reached
     * @throws ExhaustedException when there are no descriptors, or no memory
     * @throws IOException when the dial failed in another way, also for an unknown host
     * @throws IllegalArgumentException when the address has another form
     */
    public TcpConn dial(String address) throws IOException {
        return dial(Context.background(), address);
    }

    /**
     * Connects by TCP. A cancel of {@code ctx}, or its deadline, ends the wait. {@code ctx} does not affect the connection afterwards.
     *
     * @param ctx the context that may end the wait
     * @param address as for {@link #dial(String)}
     * @return the connection
     * @throws InterruptedIOException "operation was canceled", with the context's cause; or as {@link #dial(String)}
     * @throws IOException as {@link #dial(String)}
     */
    public TcpConn dial(Context ctx, String address) throws IOException {
        GStack.checkAll(); // A class of the JDK whose initialiser overflows the stack can never be used again.
        Addresses.HostPort hp = Addresses.parse(address);
        String what = "tcp " + address;
        long end = end(ctx);
        refuse(ctx, end, what);
        return dial(ctx, addresses(hp, end, ctx, what), hp.port(), end);
    }

    /**
     * Like {@link #dial(Context, String)}, this connects by TCP, but an interrupt ends the wait, on a thread of any kind. A virtual thread
     * of its own makes the dial.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #dial(Context, String)}
     */
    public TcpConn dialInterruptibly(Context ctx, String address) throws IOException, InterruptedException {
        return DialTask.dial(this, ctx, address);
    }

    /** Connects to one address of {@code all}, which is not empty. It may try both families at the same time. */
    TcpConn dial(Context ctx, InetAddress[] all, int port, long end) throws IOException {
        boolean ipv6 = all[0] instanceof Inet6Address;
        List<InetAddress> first = new ArrayList<>();
        List<InetAddress> others = new ArrayList<>();
        for (InetAddress a : all) {
            (a instanceof Inet6Address == ipv6 ? first : others).add(a);
        }
        if (fallbackDelay == null || others.isEmpty()) {
            return serial(ctx, List.of(all), port, end);
        }
        return new DialRace(this, ctx, port, end).run(first, others, fallbackDelay);
    }

    /** Tries the addresses one after the other, and returns the first connection. */
    TcpConn serial(Context ctx, List<InetAddress> all, int port, long end) throws IOException {
        IOException first = null;
        for (int i = 0; i < all.size(); i++) {
            try {
                return dial(ctx, new InetSocketAddress(all.get(i), port), share(end, all.size() - i));
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
     * Connects by TCP to an address that needs no look-up, as {@link #dial(Context, String)} does.
     *
     * @param ctx the context that may end the wait
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
        Throwable _ = e.initCause(ctx.cause());
        return e;
    }

    /** Returns the nanoTime at which a dial that starts now times out, or {@link PollFd#NO_LIMIT}. */
    private long end(Context ctx) {
        long left = Math.min(Deadlines.left(timeout), Math.min(Deadlines.left(deadline), Deadlines.left(ctx.deadline())));
        if (left == PollFd.NO_LIMIT) {
            return left;
        }
        long now = System.nanoTime();
        long end = now + Math.max(left, 0);
        return end < now ? PollFd.NO_LIMIT - 1 : Math.min(PollFd.NO_LIMIT - 1, end); // The sum may overflow.
    }

    private static long left(long end) {
        return end == PollFd.NO_LIMIT ? end : end - System.nanoTime();
    }

    /** Returns the nanoTime at which the next address's share ends, if {@code addresses} addresses share the time until {@code end}. */
    private static long share(long end, int addresses) {
        long left = left(end);
        return left == PollFd.NO_LIMIT || addresses == 1 ? end
                : end - left + Math.min(left, Math.max(LEAST_SHARE, left / addresses));
    }

    private TcpConn dial(Context ctx, InetSocketAddress to, long end) throws IOException {
        Objects.requireNonNull(to.getAddress(), () -> "unresolved address " + to);
        String what = "tcp " + Addresses.text(to);
        Errors.prepare();
        int d = -1;
        PollFd fd = null;
        TcpConn c = null;
        try {
            d = Sockets.tcp(Addresses.isIpv6(to));
            fd = PollFd.ofTcp(d);
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
            boolean _ = fd.setDeadline(PollFd.NO_LIMIT, false, true);
            InetSocketAddress here = Sockets.localAddress(d);
            if ((localAddr == null || localAddr.getPort() == 0) && isSelf(here, to)) {
                SocketOptions.linger(d, 0); // Otherwise no socket could listen on that port for a minute.
                throw Errors.of("dial", what, Errno.ECONNREFUSED, 0);
            }
            c = new TcpConn(fd, here, to);
            return c;
        } catch (NativeException e) {
            throw Errors.of("dial", what, e);
        } finally {
            if (c == null && fd != null) {
                boolean _ = fd.close();
            } else if (c == null && d >= 0) {
                Fd.release(d);
            }
        }
    }

    /**
     * Returns whether TCP has connected the socket with itself ({@code selfConnect}), because the kernel chose the dialled port for this
     * end. That happens only if no socket listens on the port.
     */
    private static boolean isSelf(InetSocketAddress here, InetSocketAddress to) {
        return here.getPort() == to.getPort()
                && (to.getAddress().isAnyLocalAddress() || to.getAddress().equals(here.getAddress()));
    }

    /** Waits for the connect. A cancel of the context ends the wait as if the time were up. */
    private static int await(Context ctx, PollFd fd, long end) {
        boolean _ = fd.setDeadline(left(end), false, true);
        BooleanSupplier stop = ctx.done() == null ? () -> true : ctx.afterFunc(() -> {
            boolean _ = fd.setDeadline(0, false, true);
        });
        int e = IoResult.TIMED_OUT;
        try {
            e = fd.awaitConnected();
        } finally {
            if (!stop.getAsBoolean() && e == 0) {
                e = IoResult.TIMED_OUT; // The function of afterFunc was started. The deadline that it sets would end later writes.
            }
        }
        return e;
    }

    /**
     * Opens a UDP socket for one peer.
     *
     * @param address {@code host:port}; for a name its first address
     * @return the socket
     * @throws IOException when there is no route to the peer, or the host is unknown; or an {@link ExhaustedException}
     */
    public UdpConn dialUdp(String address) throws IOException {
        GStack.checkAll(); // A class of the JDK whose initialiser overflows the stack can never be used again.
        Addresses.HostPort hp = Addresses.parse(address);
        Context ctx = Context.background();
        InetSocketAddress to = new InetSocketAddress(addresses(hp, end(ctx), ctx, "udp " + address)[0], hp.port());
        String what = "udp " + Addresses.text(to);
        Errors.prepare();
        int d = -1;
        UdpConn c = null;
        try {
            d = Sockets.udp(Addresses.isIpv6(to));
            SocketOptions.broadcast(d);
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
     * Connects in the Unix domain. It never waits. If the queue of the listener is full, it throws an exception.
     *
     * @param path the listener's path, or its name with {@code @}
     * @return the connection
     * @throws IOException when no socket listens there; or an {@link ExhaustedException}
     * @throws IllegalArgumentException when the path is empty, too long, or has a NUL
     */
    public UnixConn dialUnix(String path) throws IOException {
        return dialUnix("unix " + path, UnixSockets::stream, path, d -> new UnixConn(new PollFd(d), path));
    }

    /**
     * Opens a socket of the Unix domain that sends datagrams to one peer. It has no name, so the peer cannot answer.
     *
     * @param path the peer's path, or its name with {@code @}
     * @return the socket
     * @throws IOException when there is no such peer; or an {@link ExhaustedException}
     * @throws IllegalArgumentException when the path is empty, too long, or has a NUL
     */
    public UnixgramConn dialUnixgram(String path) throws IOException {
        return dialUnix("unixgram " + path, UnixSockets::datagram, path, d -> new UnixgramConn(new PollFd(d), null, path));
    }

    private static <C extends Conn> C dialUnix(String what, IntSupplier socket, String path, IntFunction<C> conn)
            throws IOException {
        Errors.prepare();
        int d = -1;
        C c = null;
        try {
            d = socket.getAsInt();
            int e = UnixSockets.connect(d, path);
            if (e != 0) {
                throw Errors.of("dial", what, e, 0);
            }
            c = conn.apply(d);
            return c;
        } catch (NativeException e) {
            throw Errors.of("dial", what, e);
        } finally {
            if (c == null && d >= 0) {
                Fd.release(d);
            }
        }
    }
}
