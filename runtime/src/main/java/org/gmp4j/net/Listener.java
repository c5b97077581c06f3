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
import org.gmp4j.proc.GStack;
import org.gmp4j.timer.TimerHeaps;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * What takes connections ({@code net.Listener}). Thread-safe; several may accept at once.
 *
 * @param <C> what a connection is
 */
public abstract sealed class Listener<C extends Conn> implements Closeable permits TcpListener, UnixListener {
    private static final int FIRST_PAUSE_MILLIS = 5;
    private static final int LAST_PAUSE_MILLIS = 1000;

    final PollFd fd;

    Listener(PollFd fd) {
        this.fd = fd;
    }

    /** The network and the address, for messages. */
    abstract String what();

    abstract C connection(int descriptor);

    /**
     * Takes the next connection, waiting for one.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
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
     * As {@link #accept()}, until an interrupt of the calling thread ends it; on threads of all kinds.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #accept()}
     */
    public C acceptInterruptibly() throws IOException, InterruptedException {
        return accept(Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #accept()}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     * @throws IOException as {@link #accept()}
     */
    public C acceptUnless(Cancelable ctx) throws IOException {
        return accept(Limits.until(ctx));
    }

    /**
     * As {@link #accept()}, for {@code d} at most; zero or less only looks. A deadline counts too.
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
                Fd.release(descriptor); // No memory.
            }
        }
    }

    /**
     * Takes connections until the listener is closed, and starts {@code handler} for each: in a goroutine, or, when the
     * caller is no goroutine, in a virtual thread. While there are no descriptors, or no memory, it pauses, 5 ms to 1 s, and goes on.
     * The handler closes its connection.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param handler what is done with a connection
     * @throws IOException when an accept failed for good, a deadline has passed for one; not when the listener is closed
     */
    public void serve(Consumer<? super C> handler) throws IOException {
        int pause = FIRST_PAUSE_MILLIS; // No Duration: doubling one needs BigDecimal, a class that may fail to initialise with a full heap.
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

    /** An interrupt does not cut it short, or a server that was interrupted would spin. The status is set again afterwards. */
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

    /** No lambda: with no memory to link it at the first connection no other would be served either. */
    private record Serving<C>(Consumer<? super C> handler, C c) implements Runnable {
        @Override
        public void run() {
            handler.accept(c);
        }
    }

    /**
     * Until when {@link #accept} has time; it holds for calls that wait already, too.
     *
     * @param at when, by the clock; in the past for none at all; null for no deadline, as in the beginning
     * @throws ClosedException when it is closed
     */
    public void setDeadline(@Nullable Instant at) throws IOException {
        setDeadline(Deadlines.left(at));
    }

    /**
     * As {@link #setDeadline}, by how far off it is.
     *
     * @param d from now; zero or negative for no time at all; null for no deadline
     * @throws ClosedException when it is closed
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
     * Closes it: its address is free when this returns, by whichever of several closes, and calls that wait in {@link #accept} get a
     * {@link ClosedException}.
     *
     * <p>Any thread may close. It waits for the calls that it ends, and for a close that has begun before, whatever interrupts come, and
     * in a bubble holds the clock.
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
