// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.gmp4j.Cancelable;
import org.gmp4j.Go;
import org.gmp4j.ffi.Fd;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sched.GStack;
import org.gmp4j.timer.TimerHeaps;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * A socket that accepts connections ({@code net.Listener}). Thread-safe. Several threads may accept at once.
 *
 * @param <C> the type of its connections
 */
public abstract sealed class Listener<C extends Conn> implements Closeable permits TcpListener, UnixListener {
    private static final int FIRST_PAUSE_MILLIS = 5;
    private static final int LAST_PAUSE_MILLIS = 1000;

    final PollFd fd;

    Listener(PollFd fd) {
        this.fd = fd;
    }

    /** Returns the network and the address, for messages. */
    abstract String what();

    abstract C connection(int descriptor);

    /**
     * Accepts the next connection. If there is none, it waits for one.
     *
     * @return the connection, which the caller closes
     * @throws ClosedException when the listener is closed
     * @throws java.net.SocketTimeoutException when a deadline has passed
     * @throws ExhaustedException when there are no descriptors, or no memory; the connection still waits
     * @throws IOException when the accept failed in another way
     */
    public C accept() throws IOException {
        return accept(Limits.DEFAULT);
    }

    /**
     * Like {@link #accept()}, this accepts the next connection, but an interrupt ends the wait, on a thread of any kind.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #accept()}
     */
    public C acceptInterruptibly() throws IOException, InterruptedException {
        return accept(Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #accept()}, this accepts the next connection, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     * @throws IOException as {@link #accept()}
     */
    public C acceptUnless(Cancelable ctx) throws IOException {
        return accept(Limits.until(ctx));
    }

    /**
     * Like {@link #accept()}, this accepts the next connection, but waits for {@code d} at most. If {@code d} is zero or less, it does not
     * wait. A deadline also ends the wait.
     *
     * @throws java.net.SocketTimeoutException when the time was up
     * @throws IOException as {@link #accept()}
     */
    public C acceptWithin(Duration d) throws IOException {
        return accept(Limits.within(d));
    }

    private C accept(Limits limits) throws IOException {
        limits.check();
        long r = fd.accept(limits);
        if (IoResult.error(r) != 0) {
            Errors.check(limits, IoResult.error(r));
            throw Errors.of("accept", what(), IoResult.error(r), 0);
        }
        int descriptor = (int) IoResult.count(r);
        C c = null;
        try {
            c = connection(descriptor);
            return c;
        } finally {
            if (c == null) {
                Fd.release(descriptor); // There was no memory for the connection.
            }
        }
    }

    /**
     * Accepts connections until the listener is closed, and starts {@code handler} for each, in a goroutine if the caller is one, otherwise
     * in a virtual thread. When there is no descriptor or no memory, it sleeps for 5 ms to 1 s and tries again. The handler closes its
     * connection.
     *
     * @param handler the function that gets each connection
     * @throws IOException when an accept failed for another reason, or a deadline has passed; not when the listener is closed
     */
    public void serve(Consumer<? super C> handler) throws IOException {
        int pause = FIRST_PAUSE_MILLIS; // Doubling a Duration needs BigDecimal, whose initialiser may fail.
        for (;;) {
            C c = null;
            boolean started = false;
            try {
                c = accept();
                start(handler, c);
                started = true;
                pause = FIRST_PAUSE_MILLIS;
            } catch (ClosedException e) {
                return;
            } catch (ExhaustedException | OutOfMemoryError e) {
                pause(pause);
                pause = Math.min(2 * pause, LAST_PAUSE_MILLIS);
            } finally {
                if (c != null && !started) {
                    c.close();
                }
            }
        }
    }

    /**
     * Sleeps. An interrupt does not end the sleep, because an interrupted server would spin. The interrupt status is set again afterwards.
     */
    static void pause(int millis) {
        long nanos = TimeUnit.MILLISECONDS.toNanos(millis);
        GStack st = GStack.current();
        if (st != null) {
            TimerHeaps.sleep(st, nanos);
            return;
        }
        boolean interrupted = false;
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            try {
                TimeUnit.NANOSECONDS.sleep(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static <C> void start(Consumer<? super C> handler, C c) {
        Serving<?> serving = new Serving<>(handler, c);
        if (Go.inGoroutine()) {
            Go.go(serving);
        } else {
            Thread _ = Thread.startVirtualThread(serving);
        }
    }

    /** Serves one connection. */
    private record Serving<C>(Consumer<? super C> handler, C c) implements Runnable {
        @Override
        public void run() {
            handler.accept(c);
        }
    }

    /**
     * Sets the deadline of {@link #accept}, which also holds for present waits.
     *
     * @param at the time, by the clock; with a time in the past all calls end at once; null, the default, for no deadline
     * @throws ClosedException when the listener is closed
     */
    public void setDeadline(@Nullable Instant at) throws IOException {
        setDeadline(Deadlines.left(at));
    }

    /**
     * Sets the deadline as {@link #setDeadline} does, but relative to now.
     *
     * @param d the time from now; with zero or less all calls end at once; null for no deadline
     * @throws ClosedException when the listener is closed
     */
    public void setDeadlineAfter(@Nullable Duration d) throws IOException {
        setDeadline(Deadlines.left(d));
    }

    private void setDeadline(long nanos) throws IOException {
        if (!fd.setDeadline(nanos, true, false)) {
            throw Errors.of("set", what(), IoResult.CLOSED, 0);
        }
    }

    /**
     * Closes the listener. The listener's address is free when this returns, even if another call has begun to close the listener. Calls
     * that wait in {@link #accept} throw a {@link ClosedException}.
     *
     * <p>Any thread may call this. The close waits until the calls that it ends have returned, and until an earlier close is done. An
     * interrupt does not end that wait. In a bubble of {@code Synctest} the bubble's clock stands still during the wait.
     */
    @Override
    public void close() {
        boolean _ = fd.close();
    }

    @Override
    public String toString() {
        return what();
    }
}
