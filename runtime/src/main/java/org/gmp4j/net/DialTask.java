// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Chan;
import org.gmp4j.context.Context;
import org.gmp4j.sched.GStack;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * A dial in a virtual thread of its own, so that an interrupt can end the caller's wait on a thread of any kind. The connection belongs to
 * the thread that takes it out of {@link #made}: the caller after the report of the dial, or the dialling thread if the report fails. If
 * the caller leaves, both threads try to take the connection, and the thread that gets it closes it.
 */
final class DialTask {
    private final AtomicReference<@Nullable TcpConn> made = new AtomicReference<>();
    /** The dialling thread sends the exception of a failed dial to this channel, or closes the channel if there is a connection. */
    private final Chan<Throwable> failed = Chan.make(1);
    private volatile boolean abandoned;

    private DialTask() {
    }

    static TcpConn dial(Dialer d, Context parent, String address) throws IOException, InterruptedException {
        Limits.INTERRUPTIBLY.check();
        GStack.checkAll(); // A stack overflow must not happen after a thread is started.
        return new DialTask().run(d, parent.withCancel(), address);
    }

    @SuppressWarnings("NullAway") // If there was no failure, made has the connection.
    private TcpConn run(Dialer d, Context ctx, String address) throws IOException, InterruptedException {
        boolean answered = false;
        try {
            Thread _ = Thread.startVirtualThread(() -> connect(d, ctx, address));
            Throwable t = failed.recvInterruptibly();
            answered = true;
            return t == null ? made.getAndSet(null) : Lookup.fail(t);
        } finally {
            abandoned = !answered;
            try {
                ctx.cancel();
            } finally {
                if (abandoned) {
                    closeUnclaimed();
                }
            }
        }
    }

    private void connect(Dialer d, Context ctx, String address) {
        try {
            made.set(d.dial(ctx, address));
            failed.close();
        } catch (Throwable t) { // Any outcome has to be reported, because the caller waits for it.
            closeUnclaimed(); // Closes a connection that was made but could not be reported.
            failed.send(t);
        }
        if (abandoned) {
            closeUnclaimed();
        }
    }

    private void closeUnclaimed() {
        TcpConn c = made.getAndSet(null);
        if (c != null) {
            c.close();
        }
    }
}
