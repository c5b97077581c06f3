package org.gmp4j.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.gmp4j.context.Context;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/**
 * Names of hosts, which the system's resolver knows: a call that may take seconds, on a thread that does nothing else
 * meanwhile.
 */
final class Lookup {
    private Lookup() {
    }

    /** All addresses of a name, without a time limit. */
    static InetAddress[] all(String host) throws UnknownHostException {
        if (!Go.inGoroutine()) {
            return InetAddress.getAllByName(host);
        }
        try {
            return Go.blocking(() -> InetAddress.getAllByName(host));
        } catch (UnknownHostException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e); // It throws no other.
        }
    }

    /**
     * The same until {@code nanos} have passed or {@code ctx} is cancelled; the look-up itself goes on behind the scenes.
     */
    static InetAddress[] all(String host, long nanos, Context ctx, String what) throws IOException {
        if (nanos == PollFd.NO_LIMIT && ctx.done() == null) {
            return all(host);
        }
        Chan<Object> found = Chan.make(1);
        Thread unused = Thread.startVirtualThread(() -> found.send(lookUp(host)));
        Object[] got = new Object[1];
        Timer limit = nanos == PollFd.NO_LIMIT ? null : Time.newTimer(Duration.ofNanos(nanos));
        Select s = Select.of().recv(found, v -> got[0] = v).recv(ctx.done(), v -> { });
        int which = (limit == null ? s : s.recv(limit.c(), v -> { })).run();
        if (limit != null) {
            boolean stopped = limit.stop();
        }
        return switch (which) {
            case 0 -> got[0] instanceof UnknownHostException e ? fail(e) : (InetAddress[]) got[0];
            case 1 -> fail(Dialer.canceled(ctx, what));
            default -> fail(Errors.of("dial", what, IoResult.TIMED_OUT, 0));
        };
    }

    private static Object lookUp(String host) {
        try {
            return all(host);
        } catch (UnknownHostException e) {
            return e;
        }
    }

    private static InetAddress[] fail(IOException e) throws IOException {
        throw e;
    }
}
