// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Chan;
import org.gmp4j.Select;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.context.Context;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.sched.GStack;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.jspecify.annotations.Nullable;

/**
 * {@code dialParallel}: a race of two families of addresses, as {@link Dialer} describes it. The family that connects second closes its
 * connection. Once the caller has a connection, it does not wait for the other family.
 */
final class DialRace {
    private final Dialer dialer;
    private final Context ctx;
    private final int port;
    private final long end;
    /** The first connection. */
    private final AtomicReference<@Nullable TcpConn> first = new AtomicReference<>();
    /** Whether the caller has left without a connection. */
    private volatile boolean abandoned;
    /** The outcome of the first family, a connection or an exception. The channel has a buffer, so that a send never waits. */
    private final Chan<Object> primary = Chan.make(1);
    /** The outcome of the other family, in the same form. */
    private final Chan<Object> fallback = Chan.make(1);

    DialRace(Dialer dialer, Context parent, int port, long end) {
        this.dialer = dialer;
        ctx = parent.withCancel();
        this.port = port;
        this.end = end;
    }

    TcpConn run(List<InetAddress> some, List<InetAddress> others, Duration patience) throws IOException {
        GStack.checkAll(); // A stack overflow must not happen after a thread is started.
        Timer delay = Time.newTimer(patience);
        boolean answered = false;
        try {
            TcpConn c = await(some, others, delay);
            end(delay);
            answered = true; // If end has thrown, the caller leaves without the connection.
            return c;
        } catch (WaitInterruptedException e) {
            throw Errors.of("dial", "tcp " + some.getFirst().getHostAddress() + " port " + port, IoResult.INTERRUPTED, 0);
        } finally {
            if (!answered) {
                abandoned = true;
                closeUnclaimed();
                end(delay);
            }
        }
    }

    private void end(Timer delay) {
        ctx.cancel();
        boolean _ = delay.stop();
    }

    /**
     * Closes the first connection. The waiting thread calls this when it leaves without the connection, and a dialling thread calls it when
     * it finds that the waiting thread has left. Only one of them gets the connection from the exchange.
     */
    private void closeUnclaimed() {
        TcpConn c = first.getAndSet(null);
        if (c != null) {
            c.close();
        }
    }

    private TcpConn await(List<InetAddress> some, List<InetAddress> others, Timer delay) throws IOException {
        start(some, primary);
        Object[] got = new Object[1];
        int which = Select.of().recv(primary, v -> got[0] = v).recv(delay.c(), v -> { }).run();
        if (got[0] instanceof TcpConn c) {
            return c;
        }
        start(others, fallback);
        Object ofFirst = got[0];
        if (which == 1) {
            which = Select.of().recv(primary, v -> got[0] = v).recv(fallback, v -> got[0] = v).run();
            if (got[0] instanceof TcpConn c) {
                return c;
            }
            if (which == 1) { // The other family has failed. The outcome of the first family decides.
                Object last = primary.recv();
                return connection(last, last);
            }
            ofFirst = got[0];
        }
        return connection(fallback.recv(), ofFirst);
    }

    private void start(List<InetAddress> addresses, Chan<Object> outcome) {
        Thread _ = Thread.startVirtualThread(() -> {
            Object o;
            try {
                TcpConn c = dialer.serial(ctx, addresses, port, end);
                o = c;
                if (!first.compareAndSet(null, c)) {
                    c.close();
                    return; // The caller waits for the outcome of the other family.
                }
            } catch (Throwable t) { // Any outcome has to be reported, because the caller waits for it.
                o = t;
            }
            outcome.send(o);
            if (abandoned) {
                closeUnclaimed();
                ctx.cancel(); // The cancel by the caller may have failed.
            }
        });
    }

    /** Returns the connection of an outcome, or throws the error of the first family. */
    @SuppressWarnings("NullAway") // Here both families have failed.
    private static TcpConn connection(@Nullable Object outcome, @Nullable Object first) throws IOException {
        return outcome instanceof TcpConn c ? c : Lookup.fail((Throwable) first);
    }
}
