// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Chan;
import org.gmp4j.context.Context;
import org.gmp4j.proc.GStack;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * A dial in a virtual thread of its own, so that an interrupt ends the wait of the caller, on whatever thread that is. The connection
 * belongs to the one that takes it out of {@link #made}: the caller, or, when the caller has left, the first of the two that finds it
 * there and closes it.
 */
final class DialApart {
    private final AtomicReference<@Nullable TcpConn> made = new AtomicReference<>();
    /** Nothing for a connection, else what was thrown. */
    private final Chan<Throwable> failed = Chan.make(1);
    private volatile boolean abandoned;

    private DialApart() {
    }

    static TcpConn dial(Dialer d, Context parent, String address) throws IOException, InterruptedException {
        Limits.INTERRUPTIBLY.check();
        GStack.checkAll(); // Refused before anything is started.
        return new DialApart().run(d, parent.withCancel(), address);
    }

    @SuppressWarnings("NullAway") // Who is told of no failure finds what was made.
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
        } catch (Throwable t) { // Whatever it is, somebody waits for it.
            closeUnclaimed(); // What was made, if it could not be told.
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
