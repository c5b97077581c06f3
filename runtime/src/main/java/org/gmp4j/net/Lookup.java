// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.context.Context;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.sched.GStack;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.jspecify.annotations.Nullable;

/** Looks up names of hosts by the system's resolver. A look-up may take seconds, and blocks its thread meanwhile. */
final class Lookup {
    private static final int MOST = 500;

    /** Null before the first call of {@link #limit}. No class initialiser makes it, because without memory that would fail for ever. */
    private static @Nullable Semaphore blocking;

    private Lookup() {
    }

    /** Returns all addresses of a name, without a time limit. */
    static InetAddress[] all(String host) throws UnknownHostException {
        if (!Go.inGoroutine()) {
            return InetAddress.getAllByName(host);
        }
        return blocking(() -> InetAddress.getAllByName(host));
    }

    /**
     * Returns the semaphore that limits how many look-ups of goroutines block a thread at the same time. If the resolver hangs, each dial
     * that timed out leaves a look-up running. Look-ups beyond {@value #MOST} wait as goroutines. Go has the same limit, or a lower one if
     * fewer descriptors are allowed.
     */
    static synchronized Semaphore limit() {
        Semaphore s = blocking;
        if (s == null) {
            s = new Semaphore(MOST);
            blocking = s;
        }
        return s;
    }

    /** Calls the resolver from a goroutine, within the {@link #limit}. */
    static InetAddress[] blocking(Callable<InetAddress[]> lookUp) throws UnknownHostException {
        GStack.checkAll(); // The stack must have room for the release of the unit.
        Semaphore limit = limit();
        boolean deep = GStack.pinIfDeep();
        try {
            limit.acquireUninterruptibly();
        } finally {
            if (deep) {
                JdkThreads.unpin();
            }
        }
        try {
            return Go.blocking(lookUp);
        } catch (UnknownHostException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e); // The call throws no other checked exception.
        } finally {
            limit.release();
        }
    }

    /**
     * Returns all addresses of a name. The wait ends when {@code nanos} ns have passed or {@code ctx} is cancelled. The look-up itself then
     * continues in the background.
     */
    static InetAddress[] all(String host, long nanos, Context ctx, String what) throws IOException {
        if (nanos == PollFd.NO_LIMIT && ctx.done() == null) {
            return all(host);
        }
        return apart(() -> all(host), nanos, ctx, what);
    }

    /** Looks a name up in a thread of its own. Throws the exception of the look-up. */
    static InetAddress[] apart(Callable<InetAddress[]> lookUp, long nanos, Context ctx, String what) throws IOException {
        Chan<Object> found = Chan.make(1);
        Thread _ = Thread.startVirtualThread(() -> found.send(outcome(lookUp)));
        Object[] got = new Object[1];
        Timer limit = nanos == PollFd.NO_LIMIT ? null : Time.newTimer(Duration.ofNanos(nanos));
        Select s = Select.of().recv(found, v -> got[0] = v).recv(ctx.done(), v -> { });
        int which;
        try {
            which = (limit == null ? s : s.recv(limit.c(), v -> { })).run();
        } catch (WaitInterruptedException e) {
            throw Errors.of("dial", what, IoResult.INTERRUPTED, 0);
        } finally {
            if (limit != null) {
                boolean _ = limit.stop();
            }
        }
        return switch (which) {
            case 0 -> got[0] instanceof Throwable t ? fail(t) : (InetAddress[]) got[0];
            case 1 -> fail(Dialer.canceled(ctx, what));
            default -> fail(Errors.of("dial", what, IoResult.TIMED_OUT, 0));
        };
    }

    /** Returns the result or the exception, of any kind, because a caller waits for one of the two, perhaps without a time limit. */
    private static Object outcome(Callable<InetAddress[]> lookUp) {
        try {
            return lookUp.call();
        } catch (Throwable t) {
            return t;
        }
    }

    /** Throws {@code t}, or an IllegalStateException instead of a checked exception other than an IOException. */
    static <T> T fail(Throwable t) throws IOException {
        switch (t) {
            case IOException e -> throw e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException(t);
        }
    }
}
